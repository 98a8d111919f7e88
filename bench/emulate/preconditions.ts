import { readTrace } from '../../checker/trace/read.ts'
import { runCommand } from './run-command.ts'

/** What a node logged last; undefined while it is down, or has logged nothing. */
type States = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** When the chain of a bug can begin in a state, with two faults at most. */
interface Precondition {
  readonly says: string
  readonly holds: (states: States) => boolean
}

interface Treelike {
  readonly self: string
  readonly state: string
  readonly parent: string | null
  readonly children: readonly string[]
  readonly peers: readonly string[]
}

interface Ringlike {
  readonly key: number
  readonly joined: boolean
  readonly predecessor: number
  readonly successors: readonly number[]
}

const of = <Node>(states: States): Node[] => [...states.values()] as unknown as Node[]

const rootsOf = (nodes: readonly Treelike[]): Treelike[] =>
  nodes.filter(({ state, self, parent }) => state === 'joined' && parent === self)

/** A child of a root that has a child, which may come to be another child of that root. */
const isTwoDeep = (states: States): boolean => {
  const nodes = of<Treelike>(states)
  return rootsOf(nodes).some(root =>
    nodes.some(each => each !== root && each.parent === root.self && each.children.length > 0),
  )
}

const ringOf = (states: States, least: number): boolean =>
  of<Ringlike>(states).filter(({ joined }) => joined).length >= least

/** The key 0 is of the node by which the others join: it never asks for its place. */
const isKnownToOthers = (states: States): boolean => {
  const joined = of<Ringlike>(states).filter(node => node.joined)
  return joined.some(({ key }) => key !== 0 && joined.some(other => other.key !== key && other.predecessor === key))
}

const isUndecided = (states: States): boolean =>
  states.size === 3 && of<{ readonly chosen: unknown }>(states).every(({ chosen }) => chosen === null)

/** By bug of CrystalBall's; the chain of another one begins anywhere, as far as is known. */
export const preconditions: Readonly<Record<string, Precondition>> = {
  'randtree-children-siblings': { says: 'a child of a root has a child', holds: isTwoDeep },
  // A child may come to be the root elsewhere, once it or its root is reset; whoever had it as a child is told so.
  'randtree-root-as-child': {
    says: 'a node has a child',
    holds: states => of<Treelike>(states).some(({ children }) => children.length > 0),
  },
  // Once it is reset, or lost, one of them is a root to which it may come back.
  'randtree-root-siblings': {
    says: 'a root has two children',
    holds: states => rootsOf(of<Treelike>(states)).some(({ children }) => children.length > 1),
  },
  'randtree-self-join': {
    says: 'a node knows nobody',
    holds: states => of<Treelike>(states).some(({ peers }) => peers.length === 0),
  },
  'chord-pred-self': { says: 'a node that joined is another one’s predecessor', holds: isKnownToOthers },
  'chord-order': { says: 'three nodes have joined', holds: states => ringOf(states, 3) },
  'chord-queue': { says: 'three nodes have joined', holds: states => ringOf(states, 3) },
  'paxos-last-promise': { says: 'all members are there, and none has learned a value', holds: isUndecided },
  'paxos-forget-promise': { says: 'all members are there, and none has learned a value', holds: isUndecided },
  'bullet-shadow-map': { says: 'any, because a node that starts again lacks all blocks', holds: () => true },
}

/** The steps of a run, up to one, after which the chain of a bug can begin; all where nothing is written down. */
export const stepsWith = (trace: string, bug: string, last: number): number[] => {
  const states = new Map<string, Readonly<Record<string, unknown>>>()
  const found: number[] = []
  for (const { index, states: changed, lives = [] } of readTrace(trace).steps) {
    if (index > last) break
    for (const { node, isAlive } of lives) if (!isAlive) states.delete(node)
    for (const { node, state } of changed)
      if (state === null || state === undefined) states.delete(node)
      else states.set(node, state as Readonly<Record<string, unknown>>)
    if (index > 0 && (preconditions[bug]?.holds(states) ?? true)) found.push(index)
  }
  return found
}

/** At most so many of these steps, spread evenly, the last one first. */
export const some = (steps: readonly number[], count: number): number[] => {
  const parts = Math.min(count, steps.length)
  return Array.from({ length: parts }, (_, index) => steps[Math.ceil((steps.length * (parts - index)) / parts) - 1]!)
}

/** Half-way to the first violation in a run, or its end. */
export const lastToLookAt = (trace: string, steps: number, environment: Readonly<Record<string, string>>): number => {
  const [first] = runCommand(['verify', trace], environment).result.violations as readonly { readonly step: number }[]
  return first ? Math.floor(first.step / 2) : steps
}
