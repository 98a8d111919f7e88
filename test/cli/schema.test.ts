import { beforeAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { printed } from '../../cli/printed/printed.ts'
import { copyOfFixtures, here as lastnail } from './lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

/** What a command prints, which must be as its schema says: no field more, none less. */
const outputOf = async <Name extends keyof typeof printed>(
  command: Name,
  ...args: readonly string[]
): Promise<z.output<(typeof printed)[Name]>> => {
  const asked = args[0] === '--' ? ['--json', ...args] : [...args, '--json']
  const { stdout, stderr } = await lastnail(directory, ...command.split(' '), ...asked)
  expect(stdout, stderr).not.toBe('')
  const output: unknown = JSON.parse(stdout.slice(stdout.trimEnd().lastIndexOf('\n') + 1))
  return printed[command].parse(output) as z.output<(typeof printed)[Name]>
}

test('check, shrink, replay, repeat and try print what their schemas say', { timeout: 180_000 }, async () => {
  const adders = 'adders.config.ts'
  const search = ['--for', '2m', '--workers', '1']
  const found = await outputOf('check', adders, '--property', 'noUpdateLost', ...search)
  expect(found).toMatchObject({ verdict: 'violated', kind: 'safety' })
  expect(
    await outputOf('check', adders, '--property', 'atMostTwo', '--executions', '5', '--workers', '1'),
  ).toMatchObject({
    verdict: 'held',
  })
  const trace = found.trace!
  expect(await outputOf('replay', trace)).toMatchObject({ verdict: 'violated', schedule: found.schedule })
  expect(await outputOf('shrink', trace)).toMatchObject({ verdict: 'violated' })
  expect(await outputOf('repeat', trace, '--times', '3')).toMatchObject({ times: 3, same: 3, differs: null })
  expect(await outputOf('try', adders, found.schedule[0]!)).toMatchObject({ verdict: 'held' })
  expect(await outputOf('keep', trace)).toMatchObject({ times: 1 })
  expect(await outputOf('keep', trace, '--test')).toMatchObject({ file: expect.stringMatching(/\.test\.ts$/) })
  expect(await outputOf('report', trace, '--out', 'found.html')).toEqual({ file: 'found.html' })
})

test('with --json an error is an object too, with a code that does not change', async () => {
  for (const [args, code, exitCode, message] of [
    [['check', 'none.config.ts'], 'configuration', 64, /none\.config\.ts: no such file$/],
    [['check', 'adders.config.ts', '--property', 'none'], 'usage', 64, /^no property "none"/],
    [['check', '--no-such-option'], 'usage', 64, /^unknown option '--no-such-option'$/],
    [['replay', 'none.trace'], 'trace', 64, /^cannot read the trace none\.trace: no such file$/],
    [['control', 'list', '--run', 'none'], 'usage', 64, /no system runs|none/],
  ] as const) {
    const { stdout, stderr, code: exit } = await lastnail(directory, ...args, '--json')
    const { error } = printed.error.parse(JSON.parse(stdout))
    expect({ exit, ...error }).toEqual({ exit: exitCode, code, exitCode, message: expect.stringMatching(message) })
    expect(stderr.split('\n')[0]).toContain(error.message.split('\n')[0])
  }
})

test('what emulate, topology and doctor print with --json is as their schemas say', { timeout: 60_000 }, async () => {
  expect(await outputOf('emulate', 'adders.config.ts', '--for', '2s')).toMatchObject({ lookedAt: expect.any(String) })
  expect(await outputOf('topology', 'star', '--nodes', '10')).toMatchObject({ out: null })
  expect((await outputOf('doctor')).abilities.length).toBeGreaterThan(4)
  expect((await outputOf('doctor --program', '--', 'true')).calls.held).toBeTypeOf('object')
})

test('schema prints them as JSON Schema, all or one; a command that prints no JSON is wrong usage', async () => {
  const all = JSON.parse((await lastnail(directory, 'schema')).stdout)
  expect(Object.keys(all)).toEqual(Object.keys(printed))
  const one = await lastnail(directory, 'schema', 'control', 'list')
  expect(JSON.parse(one.stdout)).toEqual(all['control list'])
  expect(all.check.properties.verdict.enum).toEqual(['violated', 'held', 'undetermined'])
  expect(await lastnail(directory, 'schema', 'serve')).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/^lastnail: serve prints no JSON; these commands do: check, shrink, /),
  })
})
