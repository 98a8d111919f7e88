import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, here as lastnail } from '../lastnail.ts'

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

test('a number out of its range, an address that is none, a name that is taken', async () => {
  const whole = 'expected a whole number up to 4503599627370496.'
  const port = "option '--port <n>' argument '99999' is invalid. expected a port, from 0 to 65535."
  const refused: readonly (readonly [string, readonly string[]])[] = [
    [port, ['serve', 'x.trace', '--port', '99999']],
    [port, ['emulate', 'adders.config.ts', '--port', '99999']],
    [
      `option '--workers <n>' argument '${'9'.repeat(20)}' is invalid. ${whole}`,
      ['check', '--workers', '9'.repeat(20)],
    ],
    [`option '--seed <n>' argument '${'9'.repeat(23)}' is invalid. ${whole}`, ['check', '--seed', '9'.repeat(23)]],
    [
      "nodes: expected other names: lastnail-observer is who speaks to nodes from outside, found { 'lastnail-observer': { command: [Array] } }",
      ['check', configWith(`nodes: { 'lastnail-observer': { command: ['node', 'store.js'] } }`)],
    ],
  ]
  for (const [line, args] of refused) expect(await run(...args)).toEqual(refusal(64, line))
  writeFileSync(join(directory, 'deep.gml'), `graph [ ${'a [ '.repeat(50_000)}${' ]'.repeat(50_001)}`)
  expect(await run('topology', 'convert', 'deep.gml', '--out', 'deep.json')).toEqual(
    refusal(64, 'deep.gml: line 1: expected at most 100 brackets in each other'),
  )
  expect(await run('control', 'set', 'a', 'b', '--delay', '3', '--url', 'x', '--token', 'y')).toMatchObject({
    code: 64,
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

test('a service that does not start: what happened, and its last output', async () => {
  const listener =
    "console.log('ready'); for (const port of [7003, 7002]) require('node:net').createServer().listen(port)"
  const port = configWith(`nodes: { n1: { command: ['node', '-e', ${JSON.stringify(listener)}], listens: 7001 } }`)
  expect(await run('check', port, '--executions', '1')).toEqual({
    code: 64,
    stdout: '',
    stderr: [
      'lastnail: the service does not start: n1 is idle and has not opened port 7001: it listens on 7002, 7003',
      'lastnail: its last output:',
      'lastnail:     ready',
    ].join('\n'),
  })
  const module = configWith(`nodes: { n1: { command: ['node', '-e', 'require("no-such-module")'] } }`)
  const { code, stdout, stderr } = await run('check', module, '--workers', '2', '--for', '60s')
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
  expect(stderr.split('\n').slice(0, 2)).toEqual([
    "lastnail: the service does not start: n1 ended with code 1: Error: Cannot find module 'no-such-module'",
    'lastnail: its last output:',
  ])
  expect(stderr).toContain("\nlastnail:     Error: Cannot find module 'no-such-module'\n")
  const repeated = await run('repeat', module, '--times', '2')
  expect(repeated).toMatchObject({ code: 64, stdout: '' })
  expect(repeated.stderr).toContain(
    'lastnail: the service does not start: n1 ended with code 1: Error: Cannot find module',
  )
})

test('a property that is not there, or throws', async () => {
  expect(await run('check', 'adders.config.ts', '--property', 'nothingLost')).toEqual(
    refusal(64, 'no property "nothingLost": did you mean "noUpdateLost"?'),
  )
  for (const inherited of ['constructor', '__proto__'])
    expect(await run('check', 'adders.config.ts', '--property', inherited)).toEqual(
      refusal(64, `no property "${inherited}": known are noUpdateLost, neverWritten, atMostTwo, bothDone`),
    )
  expect(await run('check', configWith('properties: { odd: always(s => s.node("n2").alive) }'))).toEqual(
    refusal(
      64,
      'properties.odd threw in the initial state: Error: no node n2: did you mean "n1"? (bad.config.ts:3); the state was n1 up',
    ),
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
    refusal(
      64,
      "option '--search <how>' argument 'luck' is invalid. Allowed choices are auto, bounded, walk, local, consequence, deviations.",
    ),
  )
  expect(await run('check', 'adders.config.ts', '--executions', '0')).toEqual(
    refusal(64, 'executions: expected a whole number above zero, found 0'),
  )
  const tooLarge = '9'.repeat(23)
  expect(await run('check', 'adders.config.ts', '--seed', tooLarge)).toEqual(
    refusal(
      64,
      `option '--seed <n>' argument '${tooLarge}' is invalid. expected a whole number up to 4503599627370496.`,
    ),
  )
  expect(await run('check', 'adders.config.ts', '--workers', '999999999')).toEqual(
    refusal(64, 'workers: expected a whole number from 1 to 256, found 999999999'),
  )
  expect(await run('emulate', 'adders.config.ts', '--port', '99999')).toEqual(
    refusal(64, "option '--port <n>' argument '99999' is invalid. expected a port, from 0 to 65535."),
  )
  expect(await run('serve', 'any.trace', '--port', '99999')).toEqual(
    refusal(64, "option '--port <n>' argument '99999' is invalid. expected a port, from 0 to 65535."),
  )
  expect(await run('control', '--url', 'x', '--token', 'y', 'list')).toEqual(
    refusal(64, '--url: expected a URL such as http://127.0.0.1:4000, found "x"'),
  )
  expect(await run('check')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('there is more than one configuration here: say which of adders.config.ts, '),
  })
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

test('the name of a property is no path, and what nodes said is for their user alone', {
  timeout: 200_000,
}, async () => {
  const names = ['../../../away/trace', '/etc/away', '.', 'a%2Fb', 'x'.repeat(300)]
  for (const name of names) {
    const config = configWith(
      `state: jsonLines('stdout'), properties: { ${JSON.stringify(name)}: always(() => false) }`,
    )
    const { code, stdout } = await run('check', config, '--executions', '1', '--out', 'out/deep/here', '--json')
    const { property, trace } = JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1))
    expect({ code, property }).toEqual({ code: 1, property: name })
    const place = dirname(trace)
    expect(dirname(place)).toBe(join(directory, 'out/deep/here/bad'))
    // A trace, a report, and a text for an issue.
    expect(readdirSync(place).length).toBe(3)
    for (const file of readdirSync(place)) expect(statSync(join(place, file)).mode & 0o777).toBe(0o600)
    for (const made of [place, dirname(place)]) expect(statSync(made).mode & 0o777).toBe(0o700)
  }
  expect(readdirSync(join(directory, 'out/deep'))).toEqual(['here'])
  expect(readdirSync(join(directory, 'out'))).toEqual(['deep'])
})

test('help and version are no mistakes', async () => {
  expect(await run('--help')).toMatchObject({ code: 0, stderr: '' })
  expect(await run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
})
