import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, start } from '../lastnail.ts'

/** A call makes it stuck: it tries again every 100 ms, and is free after a hundred thousand tries, which no walk comes to. */
const files = {
  'stuck.cjs': `
const tell = free => console.log(JSON.stringify({ free }))
tell(true)
require('node:http').createServer((_, answer) => {
  answer.end('x')
  tell(false)
  let tries = 0
  setInterval(() => {
    for (let i = 0; i < 2_000_000; i++) tries += 5e-7
    if (tries > 100_000) tell(true)
  }, 100)
}).listen(8080)
`,
  'stuck.config.ts': `
import { writeFileSync } from 'node:fs'
import { defineSystem, eventually, jsonLines } from 'lastnail'
// The first execution has some eighty states.
let states = 0
export default defineSystem({
  name: 'stuck',
  nodes: { a: { command: ['node', 'stuck.cjs'], listens: 8080 } },
  state: jsonLines('stdout'),
  clients: { ann: async ({ a }) => (await a.http(8080, '/')).statusCode },
  properties: {
    free: eventually(s => {
      states += 1
      if (states === 150) writeFileSync('examined', '')
      return s.node('a').state?.free !== false
    }),
  },
})
`,
}

const begin = (...args: readonly string[]) => {
  const { directory, remove } = copyOfFixtures(files)
  onTestFinished(remove)
  const tool = start(directory, [
    'check',
    'stuck.config.ts',
    '--walk-length',
    '20',
    '--workers',
    '1',
    '--json',
    ...args,
  ])
  return { directory, tool }
}

const lastLine = (stdout: unknown) => JSON.parse(String(stdout).split('\n').at(-1)!)

/** The trace of the suspect, its report and the command that goes on there. */
const expectSuspect = (found: ReturnType<typeof lastLine>, directory: string) => {
  expect(found).toMatchObject({ verdict: 'undetermined', property: 'free', kind: 'liveness', sample: found.trace })
  const { steps, end } = readTrace(found.trace)
  expect(steps.slice(1).map(({ choice }) => choice?.label)).toEqual(found.schedule)
  expect(end?.verdict).toMatchObject({ verdict: 'undetermined', property: 'free' })
  expect(existsSync(found.report)).toBe(true)
  expect(found.notes).toContainEqual(
    expect.stringMatching(
      /^to examine it further: npx lastnail check stuck\.config\.ts --for \d+m .*--property free --from /,
    ),
  )
  expect(found.trace).toContain(directory)
}

test('a suspect whose examination did not end is undetermined, within the time', { timeout: 60_000 }, async () => {
  const { directory, tool } = begin('--for', '8s', '--junit', 'junit.xml')
  const { exitCode, stdout, stderr } = await tool
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/free did not come to hold in \d+ steps, and the time for it was over before it was known/)
  const found = lastLine(stdout)
  expectSuspect(found, directory)
  const { search, goal, examination, audit } = found.spent
  expect(search + goal + examination + audit).toBe(found.executions)
  expect(search).toBeGreaterThan(0)
  // The start of the nodes and what was begun at the end take seconds on a busy machine.
  expect(found.seconds).toBeLessThan(16)
  expect(readFileSync(join(directory, 'junit.xml'), 'utf8')).toContain(`again: npx lastnail replay`)
})

test('a check of which less than half a minute is left has a verdict too', async () => {
  const { directory, remove } = copyOfFixtures(files)
  onTestFinished(remove)
  const args = ['--search', 'bounded', '--depth', '1', '--executions', '1', '--for', '29s', '--json']
  const { exitCode, stderr } = await start(directory, ['check', 'stuck.config.ts', ...args])
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 })
})

test('a signal during an examination leaves the trace of the suspect', { timeout: 60_000 }, async () => {
  const { directory, tool } = begin('--for', '10m')
  while (!existsSync(join(directory, 'examined'))) await sleep(50)
  tool.kill('SIGTERM')
  const { exitCode, stdout, stderr } = await tool
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/and the check was interrupted before it was known whether it ever can/)
  expectSuspect(lastLine(stdout), directory)
})
