import { types } from 'node:util'
import { z } from 'zod'
import { defaultWeights } from '../../checker/choosers/weights.ts'
import { diskFailures } from '../../checker/happening/disk-failures.ts'
import { faultKinds } from '../../checker/happening/kinds.ts'
import { nearest } from '../../checker/system/nearest.ts'
import type { Property } from '../../checker/system/property.ts'
import type { Dissector } from '../../proxy/dissector.ts'
import { windowMax } from '../../proxy/tcp.ts'
import { manners } from '../../topologies/churn/plan.ts'
import { parseTime } from '../../topologies/formats/units.ts'
import { topologyKinds } from '../../topologies/generate/generate.ts'
import { crossPackets, expectedOnly, pipeShape, type Wording } from '../../topologies/pipe-shape.ts'
import { placeForm } from '../../topologies/place.ts'
import { topologyShape } from '../../topologies/schema.ts'
import { outsidePortOf } from '../outside/answers.ts'
import type {
  BuildDefinition,
  Client,
  ClockSetting,
  Clocks,
  ContainerDefinition,
  EmulationDefinition,
  FaultKind,
  GeneratedTopology,
  GlobalState,
  Goal,
  Limits,
  LinkEvent,
  NodeView,
  Observer,
  Outside,
  OutsideAnswer,
  RepeatedClient,
  SomeCuts,
  SomeDiskFailures,
  SomeFaults,
  SomeResets,
  SystemDefinition,
  Weights,
} from './definition.ts'

/**
 * The schema of a definition. Messages say what was expected; `problems.ts` adds where, and what was found. Functions
 * are passed on as they are, never wrapped.
 */

/** An object with only these fields. Each unknown field adds a line `NAME: hint` to the message. */
const fields = <Shape extends z.ZodRawShape>(shape: Shape, what: string) =>
  z.strictObject(shape, {
    error: issue =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map(key => `${key}: unknown field, ${nearest(key, Object.keys(shape))}`).join('\n')
        : `expected ${what}`,
  })

const text = z.string({ error: 'expected a string' })
const word = (what: string) => z.string({ error: what }).regex(/^[a-z0-9][a-z0-9_.-]*$/i, { error: what })
const wholeNumber = (what: string, min = 0) => z.int({ error: what }).min(min, { error: what })
const is = <T>(test: (value: unknown) => boolean, what: string) => z.custom<T>(test, { error: what })
const isFunction = (value: unknown) => typeof value === 'function'
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const bytesOf = (amount: string): number => {
  const [, number, unit] = /^([\d.]+)([kmg]?)b?$/i.exec(amount)!
  return Math.floor(Number(number) * 1024 ** ['', 'k', 'm', 'g'].indexOf(unit!.toLowerCase()))
}

const port = 'expected a port, from 1 to 65535'
const portNumber = wholeNumber(port, 1).max(65_535, { error: port })
const listens = z
  .preprocess(
    value => (typeof value === 'number' ? [value] : value),
    z.array(portNumber, { error: 'expected a port, or a list of ports' }),
  )
  .default([])

const command = 'expected a non-empty list of strings'
const words = z.array(text, { error: command }).min(1, { error: command })

const absolute = (what: string) => z.string({ error: what }).regex(/^\//, { error: what })
const volume = "expected a volume: '/data', './here:/there' or './here:/there:ro'"
const memory = "expected an amount of memory such as '256m' or '1g', at least 6m"
const container = fields(
  {
    entrypoint: words.optional(),
    user: text.min(1, { error: 'expected a user' }).optional(),
    volumes: z
      .array(z.string({ error: volume }).regex(/^(\/[^:]*|[^:]+:\/[^:]*(:(ro|rw))?)$/, { error: volume }), {
        error: 'expected a list of volumes',
      })
      .default([]),
    tmpfs: z
      .array(absolute('expected a path in the container, such as /run'), { error: 'expected a list of paths' })
      .default([]),
    readOnly: z.boolean({ error: 'expected true or false' }).default(false),
    memory: z
      .string({ error: memory })
      .regex(/^\d+(\.\d+)?[kmg]?b?$/i, { error: memory })
      .transform(bytesOf)
      .refine(bytes => bytes >= 6 << 20, { error: memory })
      .optional(),
    pids: wholeNumber('expected how many processes and threads, at least 1', 1).optional(),
    pull: z.enum(['never', 'missing', 'always'], { error: "expected 'never', 'missing' or 'always'" }).default('never'),
    build: fields(
      {
        context: text,
        dockerfile: text.optional(),
        target: text.optional(),
        args: z.record(z.string(), z.string(), { error: 'expected arguments by name' }).default({}),
      } satisfies Record<keyof BuildDefinition, unknown>,
      'what docker build is given: { context, … }',
    ).optional(),
  } satisfies Record<keyof ContainerDefinition, unknown>,
  'what a container is given: { user, volumes, … }',
)

const amountExpected = "expected an amount such as '256MB' or '2GB'"
const amount = z
  .string({ error: amountExpected })
  .regex(/^[1-9]\d*[kmg]?b?$/i, { error: amountExpected })
  .transform(bytesOf)
  .optional()
const buffersExpected = "expected bytes from '1KB' to '4MB', such as '8KB'"
const bufferBytes = z
  .string({ error: buffersExpected })
  .regex(/^[1-9]\d*[kmg]?b?$/i, { error: buffersExpected })
  .transform(bytesOf)
  .refine(bytes => bytes >= 1 << 10 && bytes <= windowMax, { error: buffersExpected })
const limits = fields(
  {
    memory: amount,
    processes: wholeNumber('expected how many processes and threads, at least 1', 1).optional(),
    shm: amount,
    disk: amount,
  } satisfies Record<keyof Limits, unknown>,
  "what a node may use: { memory: '2GB', processes: 512, … }",
).default({})

const node = fields(
  {
    command: words.optional(),
    env: z.record(z.string(), text, { error: 'expected an object of strings' }).default({}),
    image: text.min(1, { error: 'expected the name of an image' }).optional(),
    container: container.optional(),
    cwd: text.optional(),
    disk: z.enum(['kept', 'lost'], { error: "expected 'kept' or 'lost'" }).default('kept'),
    exits: z
      .enum(['crash', 'allowed', 'restart', 'completes'], {
        error: "expected 'crash', 'allowed', 'restart' or 'completes'",
      })
      .default('crash'),
    write: z.array(text, { error: 'expected a list of paths' }).default([]),
    listens,
    healthy: words.optional(),
    after: z.array(text, { error: 'expected a list of nodes' }).default([]),
    aliases: z.array(text, { error: 'expected a list of host names' }).default([]),
    limits,
  },
  "a node: { command: ['program', 'argument'] }, or { image: 'name' }",
).superRefine(({ command: program, image, container, write }, { addIssue }) => {
  if (image !== undefined) {
    if (write.length > 0)
      addIssue({ code: 'custom', path: ['write'], message: 'expected nothing with an image: it has container.volumes' })
    return
  }
  if (program === undefined) addIssue({ code: 'custom', path: ['command'], message: command })
  if (container !== undefined)
    addIssue({ code: 'custom', path: ['container'], message: 'expected nothing without an image' })
})

/** The host from which clients and observers speak. */
export const observerName = 'lastnail-observer'

/** Names are also host names. */
export const hostName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
const nodes = z
  .record(z.string(), node, { error: 'expected the nodes by name' })
  .refine(nodes => Object.keys(nodes).length > 0, { error: 'expected at least one node' })
  .refine(nodes => !Object.keys(nodes).some(name => name.toLowerCase() === observerName), {
    error: `expected other names: ${observerName} is who speaks to nodes from outside`,
  })
  .refine(nodes => Object.keys(nodes).every(name => hostName.test(name)), {
    error: 'expected names of letters, digits and inner hyphens, since they are host names',
  })

const outsideExpected = "expected a host and its port: 'api.example.com:443'"
const answersExpected = "expected answers by request: { 'GET /price': { body } }, or a function of a request"
const answer = fields(
  {
    status: z.int({ error: 'expected a status of HTTP' }).min(100).max(599).optional(),
    headers: z.record(z.string(), text, { error: 'expected an object of strings' }).optional(),
    body: z.unknown().optional(),
  } satisfies Record<keyof OutsideAnswer, unknown>,
  'an answer: { status, headers, body }',
)
const requestExpected = "expected a method and a path, such as 'GET /price'"
const answers = z.record(z.string().regex(/^[A-Z]+ \/\S*$/, { error: requestExpected }), answer, {
  error: answersExpected,
})
const outside = z
  .record(
    z.string().refine(key => outsidePortOf(key) !== undefined, { error: outsideExpected }),
    z.union([is<Outside>(isFunction, answersExpected), answers], { error: answersExpected }),
    { error: outsideExpected },
  )
  .default({})

const namesExpected = "expected the nodes that each name may mean: { primary: ['db1', 'db2'] }"
const changingNames = z
  .record(
    z.string().refine(name => name.split('.').every(part => hostName.test(part)), { error: namesExpected }),
    z.array(text, { error: namesExpected }).min(1, { error: namesExpected }),
    { error: namesExpected },
  )
  .default({})

const sharedExpected =
  "expected the path in each of several nodes: { uploads: { web: '/srv/uploads', worker: '/data:ro' } }"
const shared = z
  .record(
    word("expected a directory's name of letters, digits, dots, hyphens and underscores"),
    z.record(
      z.string(),
      z.string({ error: sharedExpected }).regex(/^\/[^:]*[^:/][^:]*(:ro)?$/, { error: sharedExpected }),
      {
        error: sharedExpected,
      },
    ),
    { error: sharedExpected },
  )
  .default({})

const client = z.preprocess(
  value => (isFunction(value) ? { run: value, times: 1 } : value),
  fields(
    {
      run: is<Client>(isFunction, 'expected an async function of the nodes'),
      times: wholeNumber('expected how often it may be called, at least 1', 1),
      until: z.literal('returned', { error: "expected 'returned'" }).exactOptional(),
    } satisfies Record<keyof RepeatedClient, unknown>,
    'an async function of the nodes, or { run, times }',
  ),
)

const property = is<Property<GlobalState>>(
  value =>
    isObject(value) && ['always', 'eventually', 'sometimes'].includes(value.kind as string) && isFunction(value.holds),
  'expected always(…), eventually(…) or sometimes(…)',
)

const goal = is<Goal>(
  value => isObject(value) && typeof value.name === 'string' && isFunction(value.holds),
  "expected reach('its name', state => …)",
)

const durationExpected = "expected a duration such as '500ms', '60s', '10m' or '1h'"
/** In milliseconds. */
const duration = z
  .string({ error: durationExpected })
  .regex(/^\d+(\.\d+)?(ms|s|m|h)$/, { error: durationExpected })
  .transform(text => parseTime(text)!)
  .refine(milliseconds => milliseconds > 0, { error: 'expected a duration above zero' })
  .refine(milliseconds => milliseconds < 2 ** 31, { error: 'expected a duration of at most 24 days' })

const budgetExpected = 'expected a budget, a whole number of at least 0'
const budget = wholeNumber(budgetExpected).default(0)
const someFaultsShape = {
  times: wholeNumber(budgetExpected),
  of: z.array(text, { error: 'expected a list of nodes' }).optional(),
} satisfies Record<keyof SomeFaults, unknown>
const someFaults = fields(someFaultsShape, 'a budget, or { times, of }')
const someCuts = fields(
  { ...someFaultsShape, atLeast: duration.optional() } satisfies Record<keyof SomeCuts, unknown>,
  'a budget, or { times, of, atLeast }',
)
const diskExpected = `expected a list of ${diskFailures.join(', ')}`
const someDiskFailures = fields(
  {
    ...someFaultsShape,
    only: z
      .array(z.enum(diskFailures, { error: diskExpected }), { error: diskExpected })
      .min(1, { error: diskExpected })
      .optional(),
  } satisfies Record<keyof SomeDiskFailures, unknown>,
  'a budget, or { times, of, only }',
)
const someResets = fields(
  {
    ...someFaultsShape,
    only: z.enum(['connections', 'nodes'], { error: "expected 'connections' or 'nodes'" }).optional(),
  } satisfies Record<keyof SomeResets, unknown>,
  'a budget, or { times, of, only }',
)
/** An object of fields, or one value in short for it. A problem is told of the form that was meant. */
const orShort = <Output>(whole: z.ZodType<Output>, short: z.ZodType<NoInfer<Output>>) =>
  z.unknown().transform((value, context): Output => {
    const checked = (isObject(value) ? whole : short).safeParse(value)
    if (checked.success) return checked.data
    context.issues.push(...checked.error.issues.map(issue => ({ ...issue, input: value as never })))
    return z.NEVER
  })
/** A goal, or several that are reached one after the other. */
const goals = z
  .unknown()
  .transform((value, context): readonly Goal[] => {
    const list = Array.isArray(value) ? value : [value]
    return list.map((each, index) => {
      const checked = goal.safeParse(each)
      if (checked.success) return checked.data
      const path = Array.isArray(value) ? [index] : []
      context.issues.push(...checked.error.issues.map(issue => ({ ...issue, path, input: each as never })))
      return z.NEVER
    })
  })
  .refine(goals => new Set(goals.map(({ name }) => name)).size === goals.length, {
    error: 'expected goals with different names',
  })
  .default([])
/** A number alone is the budget. */
const times = budget.transform(times => ({ times }))
const fault = orShort(someFaults, times).default({ times: 0 })
type ConfiguredFault = Exclude<FaultKind, 'preempt'>
/** How often threads give way is `threads`. */
export const configuredFaults = faultKinds.filter(kind => kind !== 'preempt')
const faults = fields(
  {
    ...(Object.fromEntries(configuredFaults.map(kind => [kind, fault])) as Record<ConfiguredFault, typeof fault>),
    partition: orShort(someCuts, times).default({ times: 0 }),
    reset: orShort(someResets, times).default({ times: 0 }),
    disk: orShort(someDiskFailures, times).default({ times: 0 }),
  },
  'budgets by kind of fault',
)

const modelExpected = "expected 'ordered', as ext4 promises, or 'posix', all that POSIX allows"
const disk = fields(
  { model: z.enum(['ordered', 'posix'], { error: modelExpected }) },
  "what disks promise: { model: 'ordered' }",
)

const weight = (kind: keyof Weights) => {
  const what = 'expected a weight, a number of at least 0'
  return z.number({ error: what }).min(0, { error: what }).default(defaultWeights[kind])
}
const weights = fields(
  {
    client: weight('client'),
    deliver: weight('deliver'),
    timer: weight('timer'),
    overlap: weight('overlap'),
    divide: weight('divide'),
    fault: weight('fault'),
    repair: weight('repair'),
  } satisfies Record<keyof Weights, unknown>,
  'weights by kind of choice',
)

const clocksExpected = "expected 'independent', 'together' or a bound in milliseconds such as '50ms'"
const clockSkew = z
  .string({ error: clocksExpected })
  .regex(/^(independent|together|\d+(\.\d+)?ms)$/, { error: clocksExpected })
  .default('independent')
const startExpected = "expected a date or an instant in UTC, from 1971 on: '2026-01-01' or '2026-01-01T12:00:00Z'"
/** As an ISO date and time. */
const clocksStart = z
  .union([z.iso.date(), z.iso.datetime({ precision: 0 })], { error: startExpected })
  .transform(text => (text.includes('T') ? text : `${text}T00:00:00Z`))
  .refine(text => text >= '1971', { error: startExpected })
const clocks = orShort(
  fields(
    { skew: clockSkew, start: clocksStart.optional() } satisfies Record<keyof Clocks, unknown>,
    "how far clocks may be apart, or { skew, start: '2026-01-01' }",
  ),
  clockSkew.transform(skew => ({ skew, start: undefined })),
)

const isDissector = (value: unknown): value is Dissector =>
  isObject(value) && isFunction(value.stream) && isFunction(value.datagram)
const isPort = (key: string) => /^\d+$/.test(key) && portNumber.safeParse(Number(key)).success
const messages = is<Dissector | Record<number, Dissector>>(
  value =>
    isDissector(value) ||
    (isObject(value) && Object.entries(value).every(([key, of]) => isPort(key) && isDissector(of))),
  'expected a dissector such as frames.lines(), or dissectors by port',
)

const positive = (what: string) => z.number({ error: what }).positive({ error: what })
const rate = positive('expected how many a minute, above 0').or(z.literal(0))
const shareExpected = 'expected a share from 0 to 1'
const shareOfAll = z.number({ error: shareExpected }).min(0, { error: shareExpected }).max(1, { error: shareExpected })
const wording: Wording = { ...expectedOnly, fields }
const kindsExpected = `expected one of ${topologyKinds.join(', ')}`
const topology = z.union(
  [
    text,
    topologyShape,
    fields(
      {
        kind: z.enum(topologyKinds, { error: kindsExpected }),
        nodes: wholeNumber('expected how many, at least 1', 1).optional(),
        seed: wholeNumber('expected a whole number').default(1),
        meanRtt: positive('expected milliseconds above 0').optional(),
        cross: fields(
          { share: shareOfAll, ...crossPackets(wording) },
          'cross traffic: { share: 0.3, bytes: 1000, burst: 1 }',
        ).optional(),
      } satisfies Record<keyof GeneratedTopology, unknown>,
      'a topology: { kind, nodes, … }',
    ),
  ],
  { error: "expected a file of a topology, one to generate: { kind: 'inet', nodes: 5000 }, or { nodes, links }" },
)

const distributionExpected =
  "expected a distribution: { kind: 'exponential', meanMs: 60000 }, a pareto or a weibull one"
const above = positive('expected a number above 0')
const distribution = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('exponential'), meanMs: above }),
    z.strictObject({ kind: z.literal('pareto'), shape: above, leastMs: above }),
    z.strictObject({ kind: z.literal('weibull'), shape: above, scaleMs: above }),
  ],
  { error: distributionExpected },
)
const driftExpected = 'expected millionths from -100000 to 100000'
const offsetExpected = 'expected milliseconds, at most a day'
const placeExpected = "expected 'stub', 'transit', 'router 17' or 'client of AS 17'"
const churnExpected = "expected a file, or a model of churn: { kind: 'poisson', joinsPerMinute, leavesPerMinute }"
const bounds = {
  atLeast: wholeNumber('expected how many nodes are there at least').optional(),
  atMost: wholeNumber('expected how many nodes are there at most').optional(),
  manners: z
    .array(z.enum(manners, { error: `expected ${manners.join(', ')}` }), { error: 'expected a list of manners' })
    .min(1, { error: 'expected at least one manner' })
    .default(['stop']),
  except: z.array(z.string(), { error: 'expected a list of names of nodes' }).default([]),
  seed: wholeNumber('expected a whole number').default(1),
}
const churn = z.union(
  [
    text,
    z.strictObject({ script: z.string({ error: churnExpected }) }, { error: churnExpected }),
    z.discriminatedUnion(
      'kind',
      [
        z.strictObject({ kind: z.literal('poisson'), joinsPerMinute: rate, leavesPerMinute: rate, ...bounds }),
        z.strictObject({ kind: z.literal('sessions'), joinsPerMinute: rate, session: distribution, ...bounds }),
        z.strictObject({ kind: z.literal('on-off'), on: distribution, off: distribution, ...bounds }),
      ],
      { error: churnExpected },
    ),
  ],
  { error: churnExpected },
)

const clock = fields(
  {
    driftPpm: z
      .number({ error: driftExpected })
      .min(-100_000, { error: driftExpected })
      .max(100_000, { error: driftExpected })
      .optional(),
    offsetMs: z
      .number({ error: offsetExpected })
      .min(-86_400_000, { error: offsetExpected })
      .max(86_400_000, { error: offsetExpected })
      .optional(),
  } satisfies Record<keyof ClockSetting, unknown>,
  'a clock: { driftPpm, offsetMs }',
)

const linkExpected = "expected a node, whose own link it is, or the two ends of a link: ['17', '42']"
const yesOrNo = z.boolean({ error: 'expected true or false' })
const linkEvent = fields(
  {
    at: duration,
    link: z.union([text, z.tuple([text, text])], { error: linkExpected }),
    asBefore: yesOrNo.optional(),
    isDown: yesOrNo.optional(),
    ...z.object(pipeShape(wording)).partial().shape,
  } satisfies Record<keyof LinkEvent, unknown>,
  "a change of a link: { at: '30s', link, delayMs, … }",
)

const seriesName = 'expected a name of letters, digits, - and _'
const initialExpected = 'expected how many nodes are there from the start, or their names'

const emulation = fields(
  {
    topology: topology.optional(),
    hops: z.enum(['collapsed', 'each'], { error: "expected 'collapsed' or 'each'" }).default('collapsed'),
    place: z
      .record(z.string(), z.string({ error: placeExpected }).regex(placeForm, { error: placeExpected }), {
        error: 'expected the places of nodes by name',
      })
      .default({}),
    churn: z.preprocess(
      value => (value === undefined || Array.isArray(value) ? value : [value]),
      z.array(churn, { error: churnExpected }).default([]),
    ),
    links: z.array(linkEvent, { error: 'expected a list of changes of links' }).default([]),
    initial: z.union([wholeNumber(initialExpected), z.array(z.string())], { error: initialExpected }).optional(),
    for: duration.prefault('1m'),
    look: duration.prefault('1s'),
    looks: z.enum(['still', 'running'], { error: "expected 'still' or 'running'" }).default('still'),
    pace: z.enum(['virtual', 'real', 'native'], { error: "expected 'virtual', 'real' or 'native'" }).default('virtual'),
    clocks: z
      .record(z.string(), clock, { error: 'expected { driftPpm, offsetMs } by the name of each node' })
      .default({}),
    clients: z.record(z.string(), duration, { error: 'expected a duration by the name of each client' }).default({}),
    measure: z
      .record(
        z.string().regex(/^[\w-]+$/, { error: seriesName }),
        is<RegExp>(types.isRegExp, 'expected a regular expression'),
        {
          error: 'expected regular expressions by the names of series',
        },
      )
      .default({}),
    joined: is<(node: NodeView) => boolean>(isFunction, 'expected a function of a node').optional(),
  } satisfies Record<keyof EmulationDefinition, unknown>,
  'how it is emulated: { topology, churn, … }',
)

const publishExpected = "expected ports of nodes by ports of this machine: { 8080: 'web:80' }"
const published = z
  .record(
    z
      .string()
      .refine(key => /^\d+$/.test(key) && portNumber.safeParse(Number(key)).success, { error: publishExpected }),
    z.string({ error: publishExpected }).regex(/^[^:]+:\d+$/, { error: publishExpected }),
    { error: publishExpected },
  )
  .default({})

/** Validates a definition whose nodes are a record, and fills in defaults. */
export const systemSchema = fields(
  {
    name: word('expected a name of letters, digits, dots, hyphens and underscores'),
    nodes,
    count: z.number().optional(),
    state: is<Observer>(
      isFunction,
      "expected an observer: jsonLines('stdout'), or an async function of a node",
    ).optional(),
    clients: z.record(z.string(), client, { error: 'expected the clients by name' }).default({}),
    outside,
    names: changingNames,
    shared,
    properties: z.record(z.string(), property, { error: 'expected the properties by name' }).default({}),
    goal: goals,
    faults: faults.prefault({}),
    overlap: budget.default(1),
    divide: budget.default(4),
    threads: budget.default(0),
    disk: disk.optional(),
    clocks: clocks.default({ skew: 'independent', start: undefined }),
    delay: duration.optional(),
    buffers: bufferBytes.optional(),
    weights: weights.prefault({}),
    messages: messages.optional(),
    fingerprint: z
      .enum(['observed', 'history', 'none'], { error: "expected 'observed', 'history' or 'none'" })
      .default('observed'),
    limits,
    stepLimit: wholeNumber('expected CPU time in milliseconds, at least 1', 1).default(2000),
    publish: published,
    emulation: emulation.prefault({}),
  } satisfies Record<keyof SystemDefinition, unknown>,
  'a definition: { name, nodes, … }',
)

export type CheckedLimits = z.output<typeof limits>
export type CheckedDefinition = z.output<typeof systemSchema>
export type CheckedEmulation = z.output<typeof emulation>
export type CheckedContainer = z.output<typeof container>
