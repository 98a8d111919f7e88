import { resolve } from 'node:path'
import { ConfigError, type ResolvedSystem } from '../../harness/config.ts'
import type { EmulationOptions } from '../../harness/live/emulation.ts'
import { planChurn } from '../../topologies/churn/model.ts'
import { type ChurnPlan, checkPlan, mergePlans, readPlan } from '../../topologies/churn/plan.ts'
import { readScript } from '../../topologies/churn/script.ts'
import { TopologyError } from '../../topologies/error.ts'
import { readText, readTopology } from '../../topologies/file.ts'
import { generateInternet } from '../../topologies/internet.ts'
import type { Topology } from '../../topologies/topology.ts'

/** What the command says; it counts before what the configuration says. */
export interface EmulateOptions {
  /** A file. */
  readonly topology?: string | undefined
  /** A file, a plan or a script. */
  readonly churn?: string | undefined
  readonly forMs?: number | undefined
  readonly lookMs?: number | undefined
  /** Of all that is drawn. */
  readonly seed: number
}

export interface RunOptions extends EmulateOptions {
  readonly pace?: 'virtual' | 'real' | 'native' | undefined
  /** How often, by the clock of the run, it stands still and is searched from; never by default. */
  readonly checkEveryMs?: number | undefined
  /** How long such a search takes, by the wall; 5 s by default. */
  readonly checkForMs?: number | undefined
  /** Where its trace is put. */
  readonly out: string
  /** Where it can be asked; any by default. */
  readonly port?: number | undefined
}

type Settings = ResolvedSystem['emulation']

const pauseMs = 1000
const inetNodes = 5000
const otherNodes = 100

/**
 * How a system is to be run live.
 *
 * @param directory what paths in its configuration are relative to
 * @throws ConfigError, TopologyError
 */
export const emulationOf = (system: ResolvedSystem, directory: string, options: EmulateOptions): EmulationOptions => {
  const { emulation } = system
  checkNames(system)
  const forMs = options.forMs ?? emulation.for
  return {
    topology: topologyOf(emulation, directory, options),
    hops: emulation.hops,
    seed: options.seed,
    churn: churnOf(system, directory, { ...options, forMs }),
    forMs,
    lookEveryMs: options.lookMs ?? emulation.look,
    looks: emulation.looks,
    pauseOf: client => (Object.hasOwn(emulation.clients, client) ? emulation.clients[client]! : pauseMs),
    joined: emulation.joined,
  }
}

const checkNames = ({ emulation, clients, nodes }: ResolvedSystem): void => {
  const unknown = (field: 'clients' | 'clocks', what: string, names: readonly string[]) =>
    Object.keys(emulation[field])
      .filter(name => !names.includes(name))
      .map(name => `emulation.${field}.${name}: expected one of the ${what} (${names.join(', ') || 'there is none'})`)
  const problems = [...unknown('clients', 'clients', namesOf(clients)), ...unknown('clocks', 'nodes', namesOf(nodes))]
  if (problems.length > 0) throw new ConfigError(problems)
}

const namesOf = (named: readonly { readonly name: string }[]): string[] => named.map(({ name }) => name)

const topologyOf = ({ topology }: Settings, directory: string, options: EmulateOptions): Topology | undefined => {
  if (options.topology !== undefined) return readTopology(options.topology)
  if (topology === undefined) return undefined
  if (typeof topology === 'string') return readTopology(resolve(directory, topology))
  const { kind, nodes = kind === 'inet' ? inetNodes : otherNodes, seed, meanRtt } = topology
  return generateInternet(kind, nodes, seed, meanRtt)
}

const churnOf = (
  { nodes, emulation }: ResolvedSystem,
  directory: string,
  { churn, seed, forMs }: EmulateOptions & { readonly forMs: number },
): ChurnPlan => {
  const names = nodes.map(({ name }) => name)
  const count = emulation.initial ?? names.length
  if (count > names.length)
    throw new ConfigError([
      `emulation.initial: expected at most ${names.length}, for so many nodes there are, found ${count}`,
    ])
  const initial = names.slice(0, count)
  const parts = churn === undefined ? emulation.churn : [resolve(churn)]
  const plans = parts.map(part => {
    if (typeof part === 'string') return planIn(resolve(directory, part), names, initial)
    const { atLeast, atMost, manners, seed: own, ...model } = part
    const bounds = { ...(atLeast !== undefined && { atLeast }), ...(atMost !== undefined && { atMost }) }
    return planChurn({ nodes: names, initial: count, forMs, manners, seed: seed + own, ...bounds }, model)
  })
  const none = checkPlan({ nodes: names, initial, events: [] })
  const [first = none, ...others] = plans
  return mergePlans(first, ...others)
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
