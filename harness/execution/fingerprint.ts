import { createHash, type Hash, hash } from 'node:crypto'
import type { Network } from '../../proxy/network.ts'
import type { GlobalState } from '../config/config.ts'
import type { Node } from '../node/node.ts'
import { messageIdentity } from './choices/about-message.ts'
import type { Inputs } from './choices/inputs.ts'

/** Everything that the tool knows of a system between two steps. */
export interface Known {
  readonly state: GlobalState
  readonly nodes: readonly Node[]
  readonly network: Network
  /** What is left of each budget. */
  readonly budget: ReadonlyMap<string, number>
  /** How often each client may still call. */
  readonly calls: ReadonlyMap<string, number>
  /** Whether an observer sees the nodes' states. Without one, their output is what is observed. */
  readonly isObserved: boolean
  /** A hash of what nodes share; undefined if they share nothing. */
  readonly shared: string | undefined
  /** Earlier states of each node, as far as properties read them; absent if they do not. */
  readonly past?: readonly (readonly unknown[])[] | undefined
  /** Whether the skew of clocks is limited, so that their differences matter. */
  readonly isSkewLimited: boolean
  /** How long messages have been in flight; absent if that is unlimited. */
  readonly waits?: string | undefined
}

/** Something known about a state. Two states have the same future, as far as can be known, if all parts are equal. */
export interface Part {
  /** Its name for people: `timers of n1`. */
  readonly name: string
  readonly values: readonly (string | Buffer)[]
}

/** The parts, with the nodes' observations. */
export const observedParts = (known: Known): Part[] => [...known.nodes.flatMap(observed(known)), ...sharedParts(known)]

/** The parts, with all inputs of each node so far, which is finer than any observation. */
export const historyParts = (known: Known, history: ReadonlyMap<string, Inputs>): Part[] => [
  ...known.nodes.map(({ name }) => part(`inputs of ${name}`, history.get(name)?.hash() ?? '')),
  ...sharedParts(known),
]

/** Equal if all parts are equal. Texts are joined first, because a call of the hash costs more. */
export const fingerprintOf = (parts: readonly Part[]): string => {
  let before: Hash | undefined
  let text = ''
  for (const { values } of parts) {
    for (const value of values) {
      text += `${value.length} `
      if (typeof value === 'string') text += value
      else {
        before ??= createHash('sha1')
        before.update(text).update(value)
        text = ''
      }
    }
    text += '\n'
  }
  return before ? before.update(text).digest('hex') : hash('sha1', text)
}

const part = (name: string, ...values: readonly (string | Buffer)[]): Part => ({ name, values })

const json = (value: unknown): string => JSON.stringify(value) ?? '-'

/**
 * Cached texts of states, and of lists that grow. They stay the same object while nothing in them changes, and most steps
 * change one node of many.
 */
const texts = new WeakMap<object, string>()

const textOf = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return json(value)
  const known = texts.get(value) ?? json(value)
  texts.set(value, known)
  return known
}

const observed =
  ({ state, isObserved }: Known) =>
  (node: Node, index: number): Part[] => {
    const { state: seen, output } = state.nodes[index]!
    if (isObserved) return [part(`state of ${node.name}`, textOf(seen ?? null))]
    return [part(`output of ${node.name}`, outputHash(node, output))]
  }

type TwoStreams = GlobalState['nodes'][number]['output']

/** Cached hash of each node's output, because most steps print nothing and the whole may be long. */
const hashed = new WeakMap<Node, TwoStreams & { readonly hash: string }>()

const outputHash = (node: Node, { stdout, stderr }: TwoStreams): string => {
  const last = hashed.get(node)
  if (last?.stdout === stdout && last.stderr === stderr) return last.hash
  const found = hash('sha1', `${stdout.length} ${stdout}${stderr}`)
  hashed.set(node, { stdout, stderr, hash: found })
  return found
}

const sharedParts = ({ state, nodes, network, budget, calls, shared, past, isSkewLimited, waits }: Known): Part[] => [
  part('which nodes are up', nodes.map(lifeOf).join(' ')),
  ...nodes.map(node => part(`timers of ${node.name}`, timersOf(node))),
  ...nodes.flatMap(({ name, unsynced }) => (unsynced ? [part(`what ${name} has not synced`, unsynced.hash)] : [])),
  ...(isSkewLimited ? [part('how far clocks are apart', skewOf(nodes))] : []),
  part('messages in flight', ...inFlight(network)),
  ...(waits === undefined ? [] : [part('how long they have been', waits)]),
  ...(past === undefined ? [] : [part('states of before', json(past))]),
  ...(shared === undefined ? [] : [part('directories that nodes share', shared)]),
  part('cuts', network.faults.cuts().join(' ')),
  ...(network.names.isEmpty ? [] : [part('what names mean', json(network.names.all()))]),
  part('connections', ...network.connectionStates()),
  part('budgets', [...budget].join(' '), [...calls].join(' ')),
  part('calls', textOf(state.calls)),
  part('operations', textOf(state.history)),
]

/** A process that ended by itself leaves its kernel behind, a killed one does not. Its children count too. */
const lifeOf = ({ held, isAlive }: Node): string => {
  if (held === undefined) return 'down'
  const { outline } = held.waitingFaults
  if (outline !== '') return `up ${held.processes.size} ${outline}`
  return isAlive ? `up ${held.processes.size}` : `ended ${json(held.exit)}`
}

const timersOf = ({ held, clock }: Node): string => {
  if (held === undefined) return wallOf(clock)
  const left: number[] = []
  for (const { deadline } of held.timers) left.push(deadline - clock.elapsed)
  return left.sort((one, other) => one - other).join(' ') + wallOf(clock)
}

/** Nothing while its wall clock has not jumped. */
const wallOf = ({ jumped }: Node['clock']): string => (jumped === 0 ? '' : ` wall clock ${jumped}`)

const skewOf = (nodes: readonly Node[]): string => {
  const first = Math.min(...nodes.map(({ clock }) => clock.elapsed))
  return nodes.map(({ clock }) => clock.elapsed - first).join(' ')
}

const inFlight = (network: Network): string[] => network.messages.all().map(messageIdentity)
