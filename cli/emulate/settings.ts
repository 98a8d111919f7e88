import { resolve } from 'node:path'
import { nearest } from '../../checker/system/nearest.ts'
import { wrongNameIn } from '../../harness/config/changing-names.ts'
import { ConfigError, type ResolvedSystem } from '../../harness/config/config.ts'
import type { EmulationOptions } from '../../harness/native/emulation.ts'
import { inOrder, type TimedLinkChange } from '../../harness/timed/timing.ts'
import { planChurn } from '../../topologies/churn/model.ts'
import { type ChurnPlan, checkPlan, mergePlans, readPlan } from '../../topologies/churn/plan.ts'
import { readScript } from '../../topologies/churn/script.ts'
import { TopologyError } from '../../topologies/error.ts'
import { readText, readTopology } from '../../topologies/formats/file.ts'
import { generateInternet } from '../../topologies/generate/internet.ts'
import type { Topology } from '../../topologies/topology.ts'

/** Options of the command. They override the configuration. */
export interface EmulateOptions {
  /** Path of a topology file. */
  readonly topology?: string | undefined
  /** Path of a churn plan or script. */
  readonly churn?: string | undefined
  readonly forMs?: number | undefined
  readonly lookMs?: number | undefined
  /** Seed of all random numbers. */
  readonly seed: number
}

export interface RunOptions extends EmulateOptions {
  readonly pace?: 'virtual' | 'real' | 'native' | undefined
  /** How often, in milliseconds of the run's clock, it stands still for a search; never by default. */
  readonly checkEveryMs?: number | undefined
  /** Duration of such a search in real milliseconds; 5 s by default. */
  readonly checkForMs?: number | undefined
  /** Whether it is predicted what may come, told and recorded. */
  readonly predict?: boolean | undefined
  /** How often it is predicted, in milliseconds of the run's clock; 10 s by default, as in CrystalBall. */
  readonly everyMs?: number | undefined
  /** How many inputs a prediction gives to nodes; 500 by default. */
  readonly inputsMax?: number | undefined
  /** Keeps the system from violations: by the immediate check of each step, by prediction, or by both. */
  readonly steer?: 'check' | 'predict' | 'both' | undefined
  /** Paths of the traces of known bugs, which are kept from happening. */
  readonly guard?: readonly string[] | undefined
  /** Only real clients call, and not those of the configuration. */
  readonly onlyVisitors?: boolean | undefined
  /**
   * Steps of at least this much of the run's end are recorded as a whole, in milliseconds of its clock; of earlier ones
   * an outline. By default all are.
   */
  readonly keepMs?: number | undefined
  /** Whether what was measured over time is written as CSV and JSON too. */
  readonly series?: boolean | undefined
  /** Whether a page of the running system is served. */
  readonly serve?: boolean | undefined
  /** Directory for the trace. */
  readonly out: string
  /** Port of the control interface; any free port by default. */
  readonly port?: number | undefined
}

type Settings = ResolvedSystem['emulation']

const pauseMs = 1000
const inetNodes = 5000
const otherNodes = 100

/**
 * How to run a system over an emulated internet.
 *
 * @param directory base of the paths in the configuration
 *
 * @throws ConfigError, TopologyError
 */
export const emulationOf = (system: ResolvedSystem, directory: string, options: EmulateOptions): EmulationOptions => {
  const { emulation } = system
  checkNames(system)
  const forMs = options.forMs ?? emulation.for
  return {
    topology: topologyOf(emulation, directory, options),
    hops: emulation.hops,
    place: emulation.place,
    seed: options.seed,
    churn: churnOf(system, directory, { ...options, forMs }),
    links: linksOf(emulation),
    forMs,
    lookEveryMs: options.lookMs ?? emulation.look,
    looks: emulation.looks,
    pauseOf: client => (Object.hasOwn(emulation.clients, client) ? emulation.clients[client]! : pauseMs),
    joined: emulation.joined,
  }
}

const checkNames = ({ emulation, clients, nodes }: ResolvedSystem): void => {
  const unknown = (field: 'clients' | 'clocks' | 'place', what: string, names: readonly string[]) =>
    Object.keys(emulation[field])
      .filter(name => !names.includes(name))
      .map(name => `emulation.${field}.${name}: expected one of the ${what} (${names.join(', ') || 'there is none'})`)
  const problems = [
    ...unknown('clients', 'clients', namesOf(clients)),
    ...unknown('clocks', 'nodes', namesOf(nodes)),
    ...unknown('place', 'nodes', namesOf(nodes)),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
}

const namesOf = (named: readonly { readonly name: string }[]): string[] => named.map(({ name }) => name)

const topologyOf = (
  { topology, place }: Settings,
  directory: string,
  options: EmulateOptions,
): Topology | undefined => {
  if (options.topology !== undefined) return readTopology(options.topology)
  if (topology === undefined && Object.keys(place).length > 0)
    throw new ConfigError(['emulation.place: expected a topology, in which nodes have places'])
  if (topology === undefined) return undefined
  if (typeof topology === 'string') return readTopology(resolve(directory, topology))
  if ('links' in topology) return topology
  const { kind, nodes = kind === 'inet' ? inetNodes : otherNodes, seed, meanRtt, cross } = topology
  return generateInternet(kind, nodes, seed, meanRtt, cross)
}

/** In the order of time. */
const linksOf = ({ links }: Settings): TimedLinkChange[] => {
  const actions = links.map(({ at: atMs, ...change }): TimedLinkChange => ({ atMs, does: 'link', ...given(change) }))
  return inOrder(actions) as TimedLinkChange[]
}

/** Without what is undefined. */
const given = <Fields extends object>(fields: Fields): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

const churnOf = (
  system: ResolvedSystem,
  directory: string,
  { churn, seed, forMs }: EmulateOptions & { readonly forMs: number },
): ChurnPlan => {
  const { nodes, emulation } = system
  const names = nodes.map(({ name }) => name)
  const present = presentAtStart(emulation.initial, names)
  const kept = new Set(
    emulation.churn.flatMap(part => (typeof part === 'string' || 'script' in part ? [] : part.except)),
  )
  const strangers = [...kept].filter(name => !names.includes(name))
  if (strangers.length > 0)
    throw new ConfigError(
      strangers.map(name => `emulation.churn.except: there is no node "${name}": ${nearest(name, names)}`),
    )
  const initial = names.filter(name => present.has(name) || kept.has(name))
  const parts = churn === undefined ? emulation.churn : [resolve(churn)]
  const plans = parts.map(part => {
    if (typeof part === 'string') return planIn(resolve(directory, part), names, initial)
    if ('script' in part) return readScript(part.script, names, initial)
    const { atLeast, atMost, manners, except, seed: own, ...model } = part
    // Exempt nodes count as present, and the model must not take them.
    const stays = new Set(except)
    const bound = (count: number | undefined) => count && Math.max(0, count - stays.size)
    const [least, most] = [bound(atLeast), bound(atMost)]
    const bounds = { ...(least !== undefined && { atLeast: least }), ...(most !== undefined && { atMost: most }) }
    const [there, away] = [initial, names.filter(name => !initial.includes(name))]
    const nodes = [...there, ...away].filter(name => !stays.has(name))
    const first = there.filter(name => !stays.has(name)).length
    const { events } = planChurn({ nodes, initial: first, forMs, manners, seed: seed + own, ...bounds }, model)
    return checkPlan({ nodes: names, initial, events })
  })
  const none = checkPlan({ nodes: names, initial, events: [] })
  const [first = none, ...others] = plans
  const plan = mergePlans(first, ...others)
  const wrong = plan.events.flatMap(event => (event.does === 'name' ? (wrongNameIn(system, event) ?? []) : []))
  if (wrong.length > 0) throw new ConfigError(wrong)
  return plan
}

const presentAtStart = (initial: Settings['initial'], names: readonly string[]): Set<string> => {
  if (typeof initial !== 'object') {
    const count = initial ?? names.length
    if (count <= names.length) return new Set(names.slice(0, count))
    throw new ConfigError([
      `emulation.initial: expected at most ${names.length}, for so many nodes there are, found ${count}`,
    ])
  }
  const strangers = initial.filter(name => !names.includes(name))
  if (strangers.length === 0) return new Set(initial)
  throw new ConfigError(strangers.map(name => `emulation.initial: there is no node "${name}": ${nearest(name, names)}`))
}

const planIn = (path: string, names: readonly string[], initial: readonly string[]): ChurnPlan => {
  const content = readText(path)
  try {
    return path.endsWith('.json') ? readPlan(content) : readScript(content, names, initial)
  } catch (error) {
    if (!(error instanceof TopologyError)) throw error
    throw new TopologyError(
      error.problems.map(problem => `${path}: ${problem}`),
      { cause: error },
    )
  }
}
