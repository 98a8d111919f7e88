import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, start } from '../lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

const check = async (...args: readonly string[]) => {
  const all = ['check', 'adders.config.ts', '--search', 'walk', '--executions', '5', ...args]
  const { exitCode, stderr, stdout } = await start(directory, all, { env: { GITHUB_ACTIONS: 'true' } })
  return { exitCode, stderr: String(stderr), stdout: String(stdout) }
}

test('a CI server is told which property failed, how, and how to repeat it', async () => {
  const { exitCode, stderr } = await check('--property', 'neverWritten', '--junit', 'junit.xml')
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(
    /^::error file=adders\.config\.ts,title=adders%3A neverWritten violated::neverWritten does not hold after step 3 \(/m,
  )
  const xml = readFileSync(join(directory, 'junit.xml'), 'utf8')
  expect(xml).toMatch(/<testsuite name="adders" time="[\d.]+" tests="1" failures="1" errors="0">/)
  // Crashes were not looked for.
  expect(xml).not.toContain('no crash')
  expect(xml).toMatch(
    /<testcase name="neverWritten" classname="adders">\s*<failure message="neverWritten does not hold [^"]*" type="safety">/,
  )
  expect(xml).toMatch(/ 3 {2}[ab]→store #2 7 bytes :7000 /)
  expect(xml).toMatch(/again: npx lastnail replay \/.*neverWritten\.trace/)
})

test('what holds is a case that passed, and no annotation', async () => {
  const { exitCode, stderr } = await check('--property', 'atMostTwo', '--junit', 'held.xml')
  expect(exitCode).toBe(0)
  expect(stderr).not.toContain('::')
  const xml = readFileSync(join(directory, 'held.xml'), 'utf8')
  expect(xml).toContain('name="atMostTwo"')
  expect(xml).not.toMatch(/<failure|<error/)
})

test('each check that finds something has a directory of its own, and the last one is found by its name', {
  timeout: 120_000,
}, async () => {
  const args = ['--property', 'neverWritten', '--out', 'found'] as const
  await check(...args)
  await check(...args)
  const names = readdirSync(join(directory, 'found/adders')).sort()
  expect(names).toEqual([expect.stringMatching(/^\d{4}-/), expect.stringMatching(/^\d{4}-/), 'latest'])
  expect(readlinkSync(join(directory, 'found/adders/latest'))).toBe(names[1])
  expect(readdirSync(join(directory, 'found/adders/latest')).sort()).toEqual([
    'neverWritten.html',
    'neverWritten.md',
    'neverWritten.trace',
  ])
})

test('a file that cannot be written is one line', async () => {
  mkdirSync(join(directory, 'taken.xml'))
  const { exitCode, stderr } = await check('--property', 'atMostTwo', '--junit', 'taken.xml')
  expect(exitCode).toBe(64)
  expect(stderr).toMatch(/^lastnail: cannot write the JUnit file taken\.xml: EISDIR/m)
})

test.skipIf(!existsSync('/dev/full'))(
  'an output that cannot be written is told, and is no success (needs /dev/full)',
  () => {
    const full = openSync('/dev/full', 'w')
    const told = (...args: readonly string[]) => {
      const command = join(import.meta.dirname, '../../../bin/lastnail.js')
      const { status, stderr } = spawnSync(process.execPath, [command, ...args], {
        cwd: directory,
        encoding: 'utf8',
        stdio: ['ignore', full, 'pipe'],
      })
      return { status, stderr }
    }
    try {
      const why = expect.stringContaining('lastnail: cannot write to stdout: ENOSPC')
      expect(told('--help')).toEqual({ status: 74, stderr: why })
      // A violation stays one.
      const args = ['adders.config.ts', '--search', 'walk', '--executions', '5', '--property', 'neverWritten']
      expect(told('check', ...args)).toEqual({ status: 1, stderr: why })
    } finally {
      closeSync(full)
    }
  },
)
