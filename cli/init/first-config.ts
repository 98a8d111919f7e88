import { configuredFaults } from '../../harness/config/schema.ts'
import { quoted } from '../../report/model/quoted.ts'
import type { FirstSight, Page } from './look.ts'

/** A program that becomes a node. */
export interface AskedProgram {
  readonly name: string
  readonly command: readonly string[]
  /** TCP ports on which it listens. */
  readonly ports: readonly number[]
}

/** The text of a first configuration. It runs as it is, and its comments say what to add next. */
export const configForCompose = (name: string, compose: string, nodes: readonly string[], seen?: FirstSight): string =>
  configOf(name, ['fromCompose'], `  nodes: fromCompose(${quoted(compose)}), // ${nodes.join(', ')}`, {
    seen,
    first: { node: nodes[0]!, port: 8080 },
  })

/** The same for programs of this machine. Where nobody said on which ports they listen, those that were seen are taken. */
export const configForPrograms = (name: string, programs: readonly AskedProgram[], seen?: FirstSight): string => {
  const [first] = programs
  const nodes = `  // A process each. They find each other by these names, as host names; '{{${first!.name}.address}}' stands for an address.
  // A node may also have env: { … } and cwd: '…'. By \`exits: 'restart'\` it may end, and is started again, as by a supervisor.
  nodes: {
${programs.map(program => nodeLine({ ...program, ports: portsOf(program, seen) })).join('\n')}
  },`
  return configOf(name, [], nodes, { seen, first: { node: first!.name, port: first!.ports[0] ?? 8080 } })
}

const portsOf = ({ name, ports }: AskedProgram, seen: FirstSight | undefined): readonly number[] =>
  ports.length > 0 ? ports : (seen?.ports[name] ?? [])

interface Rest {
  readonly seen: FirstSight | undefined
  /** The node and the port that the comments name. */
  readonly first: { readonly node: string; readonly port: number }
}

const configOf = (name: string, more: readonly string[], nodes: string, { seen, first }: Rest): string => {
  const pages = firstPages(seen?.pages ?? [])
  const state = stateOf(seen)
  const messages = messagesOf(pages, Object.values(seen?.ports ?? {}).flat())
  const isAsked = pages.length > 0
  const used = [
    'always',
    'defineSystem',
    ...more,
    ...(isAsked ? ['eventually'] : []),
    ...(messages.length > 0 ? ['frames'] : []),
    ...state.imports,
  ].sort()
  return `import { ${used.join(', ')} } from 'lastnail'

export default defineSystem({
  name: '${name}',
${nodes}
${[...state.lines, ...messages].join('\n')}
${(isAsked ? callsOf(pages) : noCallsTo(first)).join('\n')}
  properties: {
    // What must hold in every state. That no node crashes and none spins is checked in any case.
    everyNodeIsUp: always(({ nodes }) => nodes.every(({ alive }) => alive)),
${(isAsked ? answered : unanswered).join('\n')}
  },
  // How many of each one execution may have.
  faults: { ${configuredFaults.map(kind => `${kind}: 0`).join(', ')} },
  // The longest time that a message is in flight. Without it a network is as slow as it likes, and timeouts are tried early.
  // delay: '2s',
})
`
}

const nodeLine = ({ name, command, ports }: AskedProgram): string => {
  const words = command.map(quoted).join(', ')
  const listens = ports.length === 0 ? '' : `, listens: ${ports.length === 1 ? ports[0] : `[${ports.join(', ')}]`}`
  return `    ${isIdentifier(name) ? name : quoted(name)}: { command: [${words}]${listens} },`
}

const isIdentifier = (name: string): boolean => /^[a-z]\w*$/i.test(name)

const nodeIn = (nodes: string, name: string): string =>
  `${nodes}${isIdentifier(name) ? `.${name}` : `[${quoted(name)}]`}`

/** How states are seen: as nodes print them, or over HTTP, where a node answers with a JSON object to anything but a question of health. */
const stateOf = (
  seen: FirstSight | undefined,
): { readonly imports: readonly string[]; readonly lines: readonly string[] } => {
  const [printed] = Object.entries(seen?.printed ?? {})
  if (printed)
    return {
      imports: ['jsonLines'],
      lines: [
        '  // The state of a node, which properties speak of: the last JSON object that it printed.',
        `  // ${printed[0]} printed ${shortened(printed[1])}.`,
        "  state: jsonLines('stdout'),",
      ],
    }
  const states = (seen?.pages ?? []).filter(
    ({ object, status, path }) => object && status < 300 && !/health/.test(path),
  )
  const [page] = states
  if (page) {
    const names = [
      ...new Set(states.filter(({ port, path }) => port === page.port && path === page.path).map(({ node }) => node)),
    ]
    return {
      imports: [],
      lines: [
        '  // The state of a node, which properties speak of: what it answers.',
        `  // ${page.node} answered ${shortened(page.object!)}.`,
        `  state: async node => ([${names.map(quoted).join(', ')}].includes(node.name) ? (await node.http(${page.port}, ${quoted(page.path)})).body.json() : undefined),`,
      ],
    }
  }
  return {
    imports: [],
    lines: [
      '  // How the state of a node is seen, which properties speak of: from its output, a file, a command, or over HTTP.',
      "  // state: jsonLines('stdout'),",
      "  // state: async node => (await node.http(8080, '/state')).body.json(),",
    ],
  }
}

const shownMax = 120
const shortened = (object: object): string => {
  const text = JSON.stringify(object)
  return text.length > shownMax ? `${text.slice(0, shownMax - 1)}…` : text
}

/** For each port that speaks HTTP, the first page that is no error, or else the first. A page that only fails is no call to begin with. */
const firstPages = (pages: readonly Page[]): readonly Page[] => {
  const places = new Map<string, Page[]>()
  for (const page of pages) {
    const place = `${page.node}:${page.port}`
    places.set(place, [...(places.get(place) ?? []), page])
  }
  const firsts = [...places.values()].map(all => all.find(({ status }) => status < 400) ?? all[0]!)
  return firsts.filter(({ status }) => status < 500)
}

/** What is usually spoken on a port. Where that is wrong, labels count bytes, as they would without. */
const usual: Readonly<Record<number, string>> = {
  1883: 'mqtt',
  5432: 'postgres',
  5672: 'amqp',
  6379: 'resp',
  9092: 'kafka',
}

/** How messages are read, so that labels say what they mean. */
const messagesOf = (pages: readonly Page[], ports: readonly number[]): string[] => {
  const spoken = new Map(ports.flatMap(port => (usual[port] ? [[port, usual[port]] as const] : [])))
  for (const { port } of pages) spoken.set(port, 'http1')
  if (spoken.size === 0) return []
  const read = [...spoken].sort(([one], [other]) => one - other).map(([port, frame]) => `${port}: frames.${frame}()`)
  return [`  messages: { ${read.join(', ')} },`]
}

const people = ['ann', 'bob', 'cem', 'dee']

/** People who call at once, at least two: at different ports, if several speak HTTP. */
const callsOf = (pages: readonly Page[]): string[] => {
  const called = pages.length === 1 ? [...pages, ...pages] : pages.slice(0, people.length)
  return [
    '  // Calls from outside, each begun by a choice. What a client returns stands in `calls`. Calls that change something find more:',
    `  // .http(${pages[0]!.port}, '/', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })`,
    '  clients: {',
    ...called.map(
      ({ node, port, path }, index) =>
        `    ${people[index]}: async nodes => (await ${nodeIn('nodes', node)}.http(${port}, ${quoted(path)})).statusCode,`,
    ),
    '  },',
  ]
}

const noCallsTo = ({ node, port }: Rest['first']): string[] => [
  '  // Calls from outside, each begun by a choice.',
  `  // clients: { put: async nodes => (await ${nodeIn('nodes', node)}.http(${port}, '/', { method: 'POST', body: 'x' })).statusCode },`,
]

const answered = [
  '    noServerError: always(({ calls }) => calls.every(({ value }) => !(Number(value) >= 500))),',
  '    // What must, from every state, become true again.',
  '    everyCallReturns: eventually(({ calls }) => calls.every(({ completedAt }) => completedAt !== undefined)),',
]

const unanswered = [
  '    // What must, from every state, become true again.',
  "    // someLeader: eventually(({ nodes }) => nodes.some(({ state }) => state?.role === 'leader')),",
]
