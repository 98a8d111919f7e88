import { resolve } from 'node:path'
import { usualDiskFailures } from '../../checker/happening/disk-failures.ts'
import { type StrikeKind, strikeKinds } from '../../checker/happening/strikes.ts'
import { nearest } from '../../checker/system/nearest.ts'
import { hasTls, hostCommand, type OutsideHost, outsideHosts, trustVariables } from '../outside/hosts.ts'
import type { Observer, SystemDefinition } from './definition.ts'
import { ConfigError } from './error.ts'
import { defaultLimits, type NodeLimits } from './limits.ts'
import { jsonLines } from './observers.ts'
import { placeholderProblem } from './placeholders.ts'
import { expandNodes, problemsOf } from './problems.ts'
import type { Build, ResolvedContainer, ResolvedNode, ResolvedSystem, Volume } from './resolved.ts'
import { type CheckedContainer, type CheckedDefinition, type CheckedLimits, systemSchema } from './schema.ts'
import { sharedBy, sharedProblems } from './shared-paths.ts'

export interface ResolveOptions {
  /** Base of the nodes' `cwd`: the directory of the configuration file. */
  readonly directory: string
}

/** Validates a definition and fills in defaults. Throws a `ConfigError` that lists all problems. */
export const resolveSystem = (definition: SystemDefinition, { directory }: ResolveOptions): ResolvedSystem => {
  const { definition: expanded, notes } = expandNodes(definition, directory)
  const checked = systemSchema.safeParse(expanded)
  if (!checked.success) throw new ConfigError(problemsOf(checked.error, expanded))
  const problems = [
    ...placeholderProblems(checked.data),
    ...faultProblems(checked.data),
    ...publishProblems(checked.data),
    ...afterProblems(checked.data),
    ...outsideProblems(checked.data),
    ...nameProblems(checked.data),
    ...sharedProblems(Object.keys(checked.data.nodes), checked.data.shared),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...fill(checked.data, directory), notes }
}

const fill = (definition: CheckedDefinition, directory: string): Omit<ResolvedSystem, 'notes'> => {
  const hosts = outsideHosts(definition.outside)
  const outside = hosts.map(({ name }) => name)
  const trustsOutside = hosts.some(hasTls)
  return {
    ...filled(definition),
    nodes: [
      ...nodesOf(definition, directory).map(node => ({
        ...node,
        ...(trustsOutside && { env: { ...trustVariables, ...node.env } }),
        after: [...node.after, ...outside],
      })),
      ...hosts.map(host => nodeOf(host, definition.limits, directory)),
    ],
    observe: observerOf(definition.state, outside),
    outside,
    trustsOutside,
  }
}

const nodesOf = (definition: CheckedDefinition, directory: string): ResolvedNode[] =>
  Object.entries(definition.nodes).map(([name, node]) => ({
    name,
    command: node.command ?? [],
    env: node.env,
    image: node.image,
    container: node.image === undefined ? undefined : containerOf(node.container, directory),
    cwd: node.image === undefined ? resolve(directory, node.cwd ?? '.') : node.cwd,
    disk: node.disk,
    exits: node.exits,
    write: node.write.map(path => resolve(directory, path)),
    listens: node.listens,
    healthy: node.healthy,
    after: node.after,
    aliases: node.aliases,
    limits: limitsOf(node, definition.limits),
    shared: sharedBy(name, definition.shared),
  }))

const nodeOf = (host: OutsideHost, limits: CheckedLimits, directory: string): ResolvedNode => ({
  ...{ name: host.name, command: hostCommand(host), listens: host.ports.map(({ port }) => port), aliases: [host.host] },
  ...{ env: {}, image: undefined, container: undefined, cwd: directory },
  ...{ disk: 'kept', exits: 'crash', write: [], healthy: undefined, after: [], shared: [] },
  limits: limitsOf({ limits: {}, container: undefined }, limits),
})

/** What is outside prints its state; the configuration's observer is of nodes. */
const observerOf = (observer: Observer | undefined, outside: readonly string[]): Observer | undefined =>
  outside.length === 0 ? observer : node => (outside.includes(node.name) ? printedState(node) : observer?.(node))

const printedState = jsonLines('stdout')

const filled = (
  definition: CheckedDefinition,
): Omit<ResolvedSystem, 'notes' | 'nodes' | 'observe' | 'outside' | 'trustsOutside'> => ({
  name: definition.name,
  clients: Object.entries(definition.clients).map(([name, client]) => ({ name, ...client })),
  names: Object.fromEntries(Object.entries(definition.names).map(([name, nodes]) => [lowerCase(name), nodes])),
  properties: definition.properties,
  goals: definition.goal,
  faults: { ...mapValues(definition.faults, ({ times }) => times), preempt: definition.threads },
  faultsOf: { ...mapValues(definition.faults, ({ of }) => of), preempt: undefined },
  diskModel: definition.disk?.model ?? (definition.faults.power.times > 0 ? 'ordered' : undefined),
  cutMsMin: definition.faults.partition.atLeast ?? 0,
  strikes: strikesIn(definition),
  diskFailures: definition.faults.disk.only ?? usualDiskFailures,
  resetsOnly: definition.faults.reset.only,
  overlap: definition.overlap,
  divide: definition.divide,
  clockSkewMsMax: clockSkewMsMax(definition.clocks.skew),
  clocksStart: definition.clocks.start,
  delayMsMax: definition.delay ?? Number.POSITIVE_INFINITY,
  bufferBytesMax: definition.buffers ?? Number.POSITIVE_INFINITY,
  weights: definition.weights,
  dissectorOf: dissectorOf(definition.messages),
  messageBytesMax: Number.POSITIVE_INFINITY,
  fingerprint: definition.fingerprint,
  stepCpuMsMax: definition.stepLimit,
  publish: Object.entries(definition.publish).map(([port, to]) => {
    const [node, nodePort] = to.split(':') as [string, string]
    return { port: Number(port), node, nodePort: Number(nodePort) }
  }),
  emulation: definition.emulation,
})

/** A plan or a person may ask for what has a budget. */
const strikesIn = ({ faults, threads }: CheckedDefinition): readonly StrikeKind[] => {
  const budgets = { disk: faults.disk.times, calls: faults.calls.times, split: faults.split.times, preempt: threads }
  return strikeKinds.filter(kind => budgets[kind] > 0)
}

type CheckedNode = CheckedDefinition['nodes'][string]

const limitsOf = (
  { limits: own, container }: Pick<CheckedNode, 'limits' | 'container'>,
  all: CheckedLimits,
): NodeLimits => ({
  memoryBytesMax: own.memory ?? container?.memory ?? all.memory ?? defaultLimits.memoryBytesMax,
  processesMax: own.processes ?? container?.pids ?? all.processes ?? defaultLimits.processesMax,
  shmBytesMax: own.shm ?? all.shm ?? defaultLimits.shmBytesMax,
  diskBytesMax: own.disk ?? all.disk ?? defaultLimits.diskBytesMax,
})

const mapValues = <Key extends string, Value, Result>(
  record: Readonly<Record<Key, Value>>,
  map: (value: Value) => Result,
): Record<Key, Result> =>
  Object.fromEntries(Object.entries<Value>(record).map(([key, value]) => [key, map(value)])) as Record<Key, Result>

const containerOf = (container: CheckedContainer = bare, directory: string): ResolvedContainer => ({
  entrypoint: container.entrypoint,
  user: container.user,
  volumes: container.volumes.map(volume => volumeOf(volume, directory)),
  tmpfs: container.tmpfs,
  readOnly: container.readOnly,
  memoryBytesMax: container.memory,
  pidsMax: container.pids,
  pull: container.pull,
  build: container.build && buildOf(container.build, directory),
})

const buildOf = (
  { context, dockerfile = 'Dockerfile', target, args }: NonNullable<CheckedContainer['build']>,
  directory: string,
): Build => {
  const base = resolve(directory, context)
  return { context: base, dockerfile: resolve(base, dockerfile), target, args }
}

const bare: CheckedContainer = { volumes: [], tmpfs: [], readOnly: false, pull: 'never' }

const volumeOf = (text: string, directory: string): Volume => {
  const [first, path, mode] = text.split(':') as [string, string?, string?]
  if (path === undefined) return { source: undefined, path: first, isReadOnly: false }
  return { source: resolve(directory, first), path, isReadOnly: mode === 'ro' }
}

const clockSkewMsMax = (skew: string) =>
  skew === 'independent' ? Number.POSITIVE_INFINITY : skew === 'together' ? 0 : Number.parseFloat(skew)

const dissectorOf = (messages: CheckedDefinition['messages']) => {
  if (messages === undefined) return () => undefined
  return 'stream' in messages ? () => messages : (port: number) => messages[port]
}

const faultProblems = ({ nodes, faults, outside }: CheckedDefinition): string[] => {
  const names = [...Object.keys(nodes), ...outsideHosts(outside).map(({ name }) => name)]
  return Object.entries(faults).flatMap(([kind, { of = [] }]) =>
    of
      .filter(name => !names.includes(name))
      .map(name => `faults.${kind}.of: there is no node ${name}; ${nearest(name, names)}`),
  )
}

/** Names of what is outside are host names of the system, and so are those of nodes. */
const outsideProblems = ({ nodes, outside }: CheckedDefinition): string[] => {
  const taken = new Set(Object.entries(nodes).flatMap(([name, { aliases }]) => [name, ...aliases]))
  return outsideHosts(outside)
    .filter(({ name, host }) => taken.has(name) || taken.has(host))
    .map(({ host }) => `outside: expected no host that a node is, found ${host}`)
}

const nameProblems = ({ nodes, outside, names }: CheckedDefinition): string[] => {
  const others = outsideHosts(outside)
  const hosts = [...Object.keys(nodes), ...others.map(({ name }) => name)]
  const aliases = Object.values(nodes).flatMap(node => node.aliases)
  const taken = new Set([...hosts, ...aliases, ...others.map(({ host }) => host)].map(lowerCase))
  return Object.entries(names).flatMap(([name, meant]) => [
    ...(taken.has(lowerCase(name)) ? [`names: expected no name that a node has, found ${name}`] : []),
    ...meant
      .filter(node => !hosts.includes(node))
      .map(node => `names.${name}: there is no node ${node}; ${nearest(node, hosts)}`),
  ])
}

const lowerCase = (text: string): string => text.toLowerCase()

const afterProblems = ({ nodes }: CheckedDefinition): string[] =>
  Object.entries(nodes).flatMap(([name, { after }]) =>
    after.flatMap(other => {
      if (!Object.hasOwn(nodes, other))
        return [`nodes.${name}.after: there is no node ${other}; ${nearest(other, Object.keys(nodes))}`]
      return waitsFor(nodes, other, name)
        ? [`nodes.${name}.after: expected no circle, but ${other} waits for ${name}`]
        : []
    }),
  )

/** Whether a node is started after another one, or is that one. */
const waitsFor = (
  nodes: CheckedDefinition['nodes'],
  name: string,
  other: string,
  seen = new Set<string>(),
): boolean => {
  if (name === other) return true
  if (seen.has(name)) return false
  seen.add(name)
  return nodes[name]?.after.some(before => waitsFor(nodes, before, other, seen)) ?? false
}

const publishProblems = ({ nodes, publish }: CheckedDefinition): string[] =>
  Object.entries(publish).flatMap(([port, to]) => {
    const [name] = to.split(':') as [string]
    if (Object.hasOwn(nodes, name)) return []
    return [`publish.${port}: there is no node ${name}; ${nearest(name, Object.keys(nodes))}`]
  })

const placeholderProblems = ({ nodes }: CheckedDefinition): string[] => {
  const names = Object.keys(nodes)
  return Object.entries(nodes).flatMap(([name, node]) => {
    const texts = [
      ...(node.command ?? []).map((text, index) => [`command[${index}]`, text] as const),
      ...Object.entries(node.env).map(([key, text]) => [`env.${key}`, text] as const),
    ]
    return texts.flatMap(([field, text]) => {
      const problem = placeholderProblem(text, names)
      return problem === undefined ? [] : [`nodes.${name}.${field}: ${problem}`]
    })
  })
}
