import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

/** Checks a system with these fields for some seconds. */
const check = (name: string, fields: string, workers = 1) => {
  const content = `
    import { always, defineSystem, jsonLines } from 'lastnail'
    const circle: any = {}
    circle.self = circle
    const later = async () => true
    export default defineSystem({
      name: '${name}',
      nodes: { n1: { command: ['node', 'store.js'] } },
      state: jsonLines('stdout'),
      ${fields}
    })`
  writeFileSync(join(directory, `${name}.config.ts`), content)
  return lastnail(directory, 'check', `${name}.config.ts`, '--executions', '3', '--workers', String(workers))
}

const property = (predicate: string) => `properties: { p: always((${predicate}) as never) }`
const client = (run: string) => `clients: { put: async ({ n1 }, { operation }) => { ${run} } }`

const inState = 'in the initial state'
const notBoolean = (found: string) =>
  `properties.p, evaluated ${inState}: expected true or false, found ${found}; the state was n1 {"value":0}`
const notJson = (found: string) => `expected a value that JSON can hold, found ${found}`

test.each([
  ['async', property('later'), notBoolean('a promise: it may not be async')],
  ['rejecting', property(`async () => Promise.reject(1)`), notBoolean('a promise: it may not be async')],
  ['nan', property('() => NaN'), notBoolean('NaN')],
  ['zero', property('() => 0'), notBoolean('0')],
  ['nothing', property('() => {}'), notBoolean('undefined')],
  [
    'throwing',
    property(`() => { throw Symbol('x') }`),
    `properties.p threw ${inState}: Symbol(x); the state was n1 {"value":0}`,
  ],
  ['big', client('return 1n'), `clients.put: ${notJson('1n (Do not know how to serialize a BigInt)')}`],
  ['symbol', client(`return Symbol('s')`), `clients.put: ${notJson('Symbol(s)')}`],
  [
    'operation',
    client(`return operation({ op: 'w', value: 1n }, async () => 1)`),
    `clients.put, the value of w: ${notJson('1n (Do not know how to serialize a BigInt)')}`,
  ],
  [
    'circle',
    'state: () => circle',
    `state of n1: ${notJson('<ref *1> { self: [Circular *1] } (Converting circular structure to JSON)')}`,
  ],
  ['thrown', `state: () => { throw Symbol('s') }`, 'state: the observer of n1 threw Symbol(s)'],
  ['exit', client('process.exit(0)'), 'exit.config.ts:10: ended this program, by process.exit(0)'],
  [
    'late',
    client(`setImmediate(() => { throw new Error('late') })`),
    'late.config.ts:10: threw, where nothing catches it, Error: late',
  ],
  ['stray', client(`Promise.reject('stray')`), 'the configuration: threw, where nothing catches it, "stray"'],
  [
    'socket',
    client('n1.tcp(9)'),
    `clients.put: its connection to n1:9 failed, and had no listener for 'error': connect ECONNREFUSED 10.77.0.2:9`,
  ],
])('%s: wrong usage, with the name of what did it and what it gave', async (name, fields, line) => {
  expect(await check(name, fields)).toEqual({ code: 64, stdout: '', stderr: `lastnail: ${line}` })
})

test('an error of a client is the result of its call, whatever it is', async () => {
  expect(await check('bare', client('throw Object.create(null)'))).toMatchObject({ code: 0, stderr: '' })
})

test('a worker that a configuration ends ends the check', async () => {
  expect(await check('out', client('process.exit(0)'), 2)).toMatchObject({
    code: 64,
    stdout: '',
    stderr: expect.stringMatching(/^lastnail: out.config.ts:10: ended this program, by process.exit\(0\)$/m),
  })
})

test('what never ends is ended from outside, by name', async () => {
  // One computes, and one sleeps without giving its thread back.
  const sleep = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'
  const [loop, turn, program] = await Promise.all([
    check('loop', property('() => { for (;;); }')),
    check('turn', client(`await null; ${sleep}`)),
    check('program', client(`return n1.exec(['sleep', '1000'])`)),
  ])
  const refusal = (line: string) => ({ code: 64, stdout: '', stderr: `lastnail: ${line}` })
  expect(loop).toEqual(refusal('properties.p computes without an end: it has not returned after 10 s'))
  expect(turn).toEqual(refusal('clients.put computes without an end: it has not returned after 10 s'))
  expect(program).toEqual(
    refusal(
      'clients.put: expected "sleep 1000" to end in n1, found it running after 10 s: no step is executed meanwhile',
    ),
  )
})
