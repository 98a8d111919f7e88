/**
 * The kinds of steps: one row each. Searches draw and order choices by their roles, labels are read by their words, and a
 * report explains them by what happens.
 */

/** What a kind of step is to a system. */
export type Role =
  /** what any system does by itself */
  | 'ordinary'
  /** what any network may do, but does seldom; it has a budget, and is no fault */
  | 'deviation'
  /** it takes something away, so it has a budget */
  | 'fault'
  /** it ends a fault, so it has none */
  | 'repair'
  /** a plan, a person or the tool itself does it; no search draws it */
  | 'change'

interface Kind {
  /** In a few words, for a legend. */
  readonly happens: string
  readonly role: Role
  /**
   * First words of the labels of such steps: those of searches, and those of timed runs. The labels of messages, timers
   * and overlaps are read by their form instead.
   */
  readonly words?: readonly string[]
  /** Whether it changes what lies between nodes, and no node notices. */
  readonly isOfNetwork?: boolean
}

/** In the order in which people read them. */
export const kinds = {
  /** A datagram, what a connection carried in a step, or a connection being opened or closed. */
  deliver: { happens: 'a message arrives', role: 'ordinary' },
  /** The node's earliest one. */
  timer: { happens: 'a timer fires', role: 'ordinary' },
  /** Two enabled inputs of one node enter it in one step, before it runs. */
  overlap: { happens: 'two inputs enter at once', role: 'deviation' },
  /** The rest of a message that was written together stays in flight. */
  divide: { happens: 'the beginning of a message arrives', role: 'deviation' },
  client: { happens: 'a client calls', role: 'ordinary', words: ['client', 'exec', 'outside'] },
  drop: { happens: 'a message is dropped', role: 'fault', words: ['drop'] },
  duplicate: { happens: 'a message is duplicated', role: 'fault', words: ['duplicate'] },
  /** A node that is reset is killed and started again at once. */
  reset: { happens: 'a connection or a node is reset', role: 'fault', words: ['reset'] },
  crash: { happens: 'a node crashes', role: 'fault', words: ['crash', 'leave'] },
  restart: { happens: 'a node starts again', role: 'repair', words: ['restart', 'join'] },
  partition: { happens: 'nodes are cut off', role: 'fault', words: ['partition', 'cut', 'part'], isOfNetwork: true },
  heal: { happens: 'a partition ends', role: 'repair', words: ['heal'], isOfNetwork: true },
  /** Each next step is then the only one possible. It is offered to no chooser. */
  healthy: { happens: 'from here on the network is healthy', role: 'change', words: ['healthy'] },
  link: { happens: 'the settings of a link change', role: 'change', words: ['link', 'set'], isOfNetwork: true },
  /** It prevents a violation. Only time chooses it. */
  steer: { happens: 'steering does something in place of a step', role: 'change', words: ['steer'] },
} as const satisfies Readonly<Record<string, Kind>>

export type ChoiceKind = keyof typeof kinds

type OfRole<Wanted extends Role> = {
  [Each in ChoiceKind]: (typeof kinds)[Each]['role'] extends Wanted ? Each : never
}[ChoiceKind]

/** The kinds that have a fault budget. */
export type FaultKind = OfRole<'fault'>

/** All kinds, in the order of the table. */
export const allKinds = Object.keys(kinds) as readonly ChoiceKind[]

/** A trace may come from a later version, whose kinds are not all known here. */
const rowOf = (kind: ChoiceKind): Kind => kinds[kind] ?? unknownKind

const unknownKind: Kind = { happens: '', role: 'change' }

export const roleOf = (kind: ChoiceKind): Role => rowOf(kind).role

/** The kinds with these roles. */
const kindsOf = (...roles: readonly Role[]): readonly ChoiceKind[] =>
  allKinds.filter(kind => roles.includes(roleOf(kind)))

export const faultKinds = kindsOf('fault')

export const repairKinds = kindsOf('repair')

/** What a system does without faults and without deviations. */
export const usualKinds = kindsOf('ordinary', 'repair')

export const isFault = (kind: ChoiceKind): boolean => roleOf(kind) === 'fault'

export const isRepair = (kind: ChoiceKind): boolean => roleOf(kind) === 'repair'

/** Whether steps of this kind change the network alone. */
export const isKindOfNetwork = (kind: ChoiceKind): boolean => rowOf(kind).isOfNetwork === true

/** The kind of labels that begin with this word. */
export const kindByWord = (word: string): ChoiceKind | undefined => byWord.get(word)

const byWord: ReadonlyMap<string, ChoiceKind> = new Map(
  allKinds.flatMap(kind => (rowOf(kind).words ?? []).map(word => [word, kind] as const)),
)
