import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, lastnail } from './lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

const run = (...args: readonly string[]) => lastnail(directory, ...args)

const configWith = (fields: string) => {
  const content = `
    import { always, defineSystem, eventually, jsonLines } from 'lastnail'
    export default defineSystem({ name: 'bad', nodes: { n1: { command: ['node', 'store.js'] } }, ${fields} })`
  writeFileSync(join(directory, 'bad.config.ts'), content)
  return 'bad.config.ts'
}

/** Nothing on stdout, one line on stderr. */
const refusal = (code: number, line: string) => ({ code, stdout: '', stderr: `lastnail: ${line}` })

test('a wrong field: where, what was expected, what was found', async () => {
  expect(await run('check', configWith(`fualts: { drop: 1 }`))).toEqual(
    refusal(64, 'fualts: unknown field, did you mean "faults"?'),
  )
  expect(await run('check', configWith(`faults: { drop: 'often' }, overlap: -1`))).toEqual({
    code: 64,
    stdout: '',
    stderr:
      'lastnail: faults.drop: expected a budget, a whole number of at least 0, found "often"\n' +
      'lastnail: overlap: expected a budget, a whole number of at least 0, found -1',
  })
})

test('a file that is not there, or no configuration', async () => {
  const absent = join(directory, 'absent.config.ts')
  expect(await run('check', 'absent.config.ts')).toEqual(
    refusal(64, `cannot read the configuration ${absent}: no such file`),
  )
  // One that would never end of itself.
  writeFileSync(join(directory, 'busy.js'), 'setInterval(() => {}, 1000)')
  expect(await run('check', 'busy.js')).toEqual(
    refusal(64, `${join(directory, 'busy.js')}: expected a default export made by defineSystem(…), found {}`),
  )
})

test('a command that is not found', async () => {
  expect(await run('check', configWith(`nodes: { n1: { command: ['no-such-program'] } }`))).toEqual(
    refusal(64, 'nodes.n1.command: expected a program, found no "no-such-program"'),
  )
})

test('a port that is never opened is a finding, with the last output', async () => {
  const config = configWith(`nodes: { n1: { command: ['node', 'store.js'], listens: 7001 } }`)
  const { code, stdout } = await run('check', config, '--executions', '1')
  expect(code).toBe(1)
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    'violated: crash',
    'crash of n1 in the initial state: n1 is idle and has not opened port 7001; its last output: "{\\"value\\":0}"',
  ])
})

test('a property that is not there, or throws', async () => {
  expect(await run('check', 'adders.config.ts', '--property', 'nothingLost')).toEqual(
    refusal(64, 'no property "nothingLost": there are noUpdateLost, neverWritten, atMostTwo, bothDone'),
  )
  expect(await run('check', configWith('properties: { odd: always(s => s.node("n2").alive) }'))).toEqual(
    refusal(64, 'properties.odd threw in the initial state: Error: no node n2: there are n1'),
  )
})

test('an observer that throws, or whose node does not answer', async () => {
  expect(await run('check', configWith(`state: node => JSON.parse(node.output().stderr)`))).toEqual(
    refusal(64, 'state: the observer of n1 threw SyntaxError: Unexpected end of JSON input'),
  )
  expect(await run('check', configWith(`state: async node => (await node.http(80, '/')).body.json()`))).toEqual(
    refusal(64, 'state: the observer of n1 threw Error: connect ECONNREFUSED 10.77.0.2:80'),
  )
})

test('options: unknown, not a number, no duration, no such search, zero', async () => {
  expect(await run('check', 'adders.config.ts', '--exeuctions', '3')).toEqual(
    refusal(64, "unknown option '--exeuctions'\n(Did you mean --executions?)"),
  )
  expect(await run('check', 'adders.config.ts', '--depth', 'deep')).toEqual(
    refusal(64, "option '--depth <n>' argument 'deep' is invalid. expected a whole number."),
  )
  expect(await run('check', 'adders.config.ts', '--for', '60')).toEqual(
    refusal(
      64,
      "option '--for <duration>' argument '60' is invalid. expected a duration such as 60s, 500ms, 5m or 1h.",
    ),
  )
  expect(await run('check', 'adders.config.ts', '--search', 'luck')).toEqual(
    refusal(64, "option '--search <how>' argument 'luck' is invalid. Allowed choices are auto, bounded, walk."),
  )
  expect(await run('check', 'adders.config.ts', '--executions', '0')).toEqual(
    refusal(64, 'executions: expected a whole number above zero, found 0'),
  )
  expect(await run('check')).toEqual(refusal(64, "missing required argument 'config'"))
  expect(await run('chekc')).toEqual(refusal(64, "unknown command 'chekc'\n(Did you mean check?)"))
})

test('a directory for traces that cannot be written to', async () => {
  writeFileSync(join(directory, 'occupied'), '')
  expect(await run('check', 'adders.config.ts', '--out', 'occupied/traces')).toEqual(
    refusal(
      64,
      `cannot write traces to ${join(directory, 'occupied/traces')}: ${join(directory, 'occupied')} is a file`,
    ),
  )
})

test('help and version are no mistakes', async () => {
  expect(await run('--help')).toMatchObject({ code: 0, stderr: '' })
  expect(await run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
})
