import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { expect, test } from 'vitest'

const built = (name: string) => pathToFileURL(join(import.meta.dirname, `../../../dist/${name}.js`)).href

/** What a predicate, an observer or a client may give or throw that nobody asked for. */
const values = {
  string: `'true'`,
  nothing: 'null',
  number: '1',
  object: '{}',
  wrapped: 'new Boolean(true)',
  thenable: '{ then: undefined }',
  big: '1n',
  symbol: `Symbol('s')`,
  function: '() => true',
  bare: 'Object.create(null)',
  circle: 'circle',
  trap: `new Proxy({}, { get: () => { throw new Error('trapped') } })`,
  getter: `{ get value() { throw new Error('got') } }`,
  json: `{ toJSON: () => { throw new Error('no JSON') } }`,
  deep: 'deep',
  error: `Object.assign(new Error('plain'), { toString: () => { throw 1 } })`,
} as const

type Value = keyof typeof values
const names = Object.keys(values) as Value[]
/** What JSON cannot hold, so that neither a trace nor a fingerprint can. */
const unheld: readonly Value[] = ['big', 'symbol', 'function', 'circle', 'trap', 'getter', 'json', 'deep']

/** The same, but for what an async function cannot give: to ask it whether it is a promise is an error of the client. */
const unheldLater = unheld.filter(name => name !== 'trap')

interface Configuration {
  readonly fields: string
  /** What the line has to name; none where it is no mistake. */
  readonly names?: string
}

const property = (predicate: string) => `properties: { p: always(${predicate}) }`
const client = (run: string) => `clients: { put: async ({ n1 }, { operation }) => { ${run} } }`
const each = (
  some: readonly Value[],
  what: string,
  of: (value: string) => string,
  named?: string,
): [string, Configuration][] =>
  some.map(name => [`${what} ${name}`, { fields: of(values[name]), ...(named && { names: named }) }])

const configurations: Readonly<Record<string, Configuration>> = Object.fromEntries([
  ...each(names, 'a predicate gives', value => property(`() => (${value})`), 'properties.p, evaluated in the initial'),
  ...each(names, 'a predicate throws', value => property(`() => { throw (${value}) }`), 'properties.p threw in the'),
  ...each(unheld, 'an observer gives', value => `state: () => (${value})`, 'state of n1: expected a value that JSON'),
  ...each(names, 'an observer throws', value => `state: () => { throw (${value}) }`, 'state: the observer of n1 threw'),
  ...each(names, 'an observer rejects with', value => `state: async () => { throw (${value}) }`, 'state: the observer'),
  ...each(
    unheldLater,
    'a client gives',
    value => client(`return (${value})`),
    'clients.put: expected a value that JSON',
  ),
  ...each(names, 'a client throws', value => client(`throw (${value})`)),
  ...each(
    unheld,
    'an operation writes',
    value => client(`return operation({ op: 'w', value: (${value}) }, async () => 1)`),
    'clients.put, the value of w: expected',
  ),
  ...each(
    unheldLater,
    'an operation gives',
    value => client(`await operation({ op: 'r' }, async () => (${value}))`),
    'clients.put, the result of r: expected',
  ),
  ...each(['bare', 'trap'], 'a client may well give', value => client(`return (${value})`)),
  ['a client asks a program that is not there', { fields: client(`await n1.exec(['no-such-program'])`) }],
  ['a client asks a port where nobody answers', { fields: client(`await n1.udp(9, 'x')`) }],
  [
    'a predicate calls itself for ever',
    { fields: property('function again() { return again() }'), names: 'properties.p threw in the initial state' },
  ],
  ['a predicate is a class', { fields: property('class P {}'), names: 'properties.p threw in the initial state' }],
] satisfies [string, Configuration][])

/** Checks all of them in one process, and prints what each came to. */
const program = (all: Readonly<Record<string, Configuration>>) => `
  import { check, always, defineSystem } from ${JSON.stringify(built('index'))}
  import { explainError } from ${JSON.stringify(built('cli/command/exit-code'))}
  const circle = {}
  circle.self = circle
  let deep = []
  for (let i = 0; i < 100_000; i++) deep = [deep]
  const nodes = { n1: { command: ['sleep', '1000'] } }
  const systems = {
    ${Object.entries(all)
      .map(([name, { fields }]) => `${JSON.stringify(name)}: () => ({ nodes, name: 'odd', ${fields} }),`)
      .join('\n    ')}
  }
  const came = {}
  for (const [name, system] of Object.entries(systems)) {
    try {
      const { verdict } = await check(defineSystem(system()), { executions: 2, workers: 1 })
      came[name] = { code: 0, lines: [verdict] }
    } catch (error) {
      came[name] = explainError(error)
    }
  }
  console.log(JSON.stringify(came))`

test(`each of ${Object.keys(configurations).length} odd configurations is wrong usage by name, or no mistake`, {
  timeout: 300_000,
}, async () => {
  const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', program(configurations)])
  const came: Record<string, { code: number; lines: string[] }> = JSON.parse(stdout.split('\n').at(-1)!)
  expect(Object.keys(came)).toEqual(Object.keys(configurations))
  for (const [name, { names: named }] of Object.entries(configurations)) {
    const { code, lines } = came[name]!
    expect([name, code, lines.length]).toEqual([name, named === undefined ? 0 : 64, 1])
    expect([name, lines[0]!.slice(0, named?.length)]).toEqual([name, named ?? 'held'])
  }
})
