/**
 * The kinds of steps: one row each. Searches draw and order choices by their roles, labels are read by their words, and a
 * report explains them by what happens.
 */

/** What a kind of step is to a system. */
export type Role =
  /** every system does this by itself */
  | 'ordinary'
  /** every network may do this, but seldom does; it has a budget, and is no fault */
  | 'deviation'
  /** it takes something away, so it has a budget */
  | 'fault'
  /** it ends a fault, and needs no budget */
  | 'repair'
  /** a plan, a person or the tool itself does it; no search draws it */
  | 'change'

/** A part of a mark: how it is drawn, and the path of an SVG. */
export type Stroke = readonly ['solid' | 'hollow' | 'line' | 'line thick' | 'inverse', string]

interface Kind {
  /** In a few words, for a legend. */
  readonly happens: string
  /** Its mark in a report, around 0 0 in some 14 by 14 pixels: kinds differ in shape, not in colour alone. */
  readonly glyph: readonly Stroke[]
  readonly role: Role
  /**
   * First words of the labels of such steps, in searches and in timed runs. The labels of messages, timers
   * and overlaps are read by their form instead.
   */
  readonly words?: readonly string[]
  /** Its labels, where they begin with the word of another kind. */
  readonly form?: RegExp
  /** Whether these words are followed by the name of a node. */
  readonly isOfNode?: boolean
  /** Whether it changes what lies between nodes, and no node notices. */
  readonly isOfNetwork?: boolean
}

/** A circle on the horizontal axis. */
const circle = (x: number, radius: number): string =>
  `M${x - radius} 0a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`

/** In the order in which people read them. */
export const kinds = {
  /** A datagram, what a connection carried in a step, or a connection being opened or closed. */
  deliver: { happens: 'a message arrives', role: 'ordinary', glyph: [['solid', circle(0, 4)]] },
  /** The node's earliest one. */
  timer: {
    happens: 'a timer fires',
    role: 'ordinary',
    glyph: [
      ['hollow', circle(0, 6)],
      ['line', 'M0 -4V0H3'],
    ],
  },
  /** Two enabled inputs of one node enter it in one step, before it runs. */
  overlap: {
    happens: 'two inputs enter at once',
    role: 'deviation',
    glyph: [
      ['hollow', circle(-3, 4.5)],
      ['solid', circle(3, 4.5)],
    ],
  },
  /** The rest of a message that was written together stays in flight. */
  divide: {
    happens: 'the beginning of a message arrives',
    role: 'deviation',
    glyph: [
      ['solid', 'M0 -4A4 4 0 0 0 0 4Z'],
      ['hollow', 'M2 -4A4 4 0 0 1 2 4Z'],
    ],
  },
  /** At any byte; `divide` is at the border of frames. The rest stays in flight. */
  split: {
    happens: 'a part of a message arrives',
    role: 'fault',
    words: ['split'],
    glyph: [
      ['solid', 'M-1 -5A5 5 0 0 0 -1 5Z'],
      ['line thick', 'M2 -6V6'],
    ],
  },
  client: {
    happens: 'a client calls',
    role: 'ordinary',
    words: ['client', 'exec', 'outside'],
    glyph: [['solid', 'M-5 -5H2L7 0L2 5H-5Z']],
  },
  drop: {
    happens: 'a message is dropped',
    role: 'fault',
    words: ['drop'],
    glyph: [['line thick', 'M-5 -5L5 5M-5 5L5 -5']],
  },
  duplicate: {
    happens: 'a message is duplicated',
    role: 'fault',
    words: ['duplicate'],
    glyph: [
      ['hollow', 'M-6 -6h8v8h-8Z'],
      ['hollow', 'M-2 -2h8v8h-8Z'],
    ],
  },
  /** A node that is reset is killed and started again at once. */
  reset: {
    happens: 'a connection or a node is reset',
    role: 'fault',
    words: ['reset'],
    isOfNode: true,
    glyph: [['solid', 'M2 -8L-4 1H0L-2 8L5 -2H1Z']],
  },
  crash: {
    happens: 'a node crashes',
    role: 'fault',
    words: ['crash', 'leave'],
    isOfNode: true,
    glyph: [
      ['solid', 'M-7 -7h14v14h-14Z'],
      ['inverse', 'M-4 -4L4 4M-4 4L4 -4'],
    ],
  },
  /** As by a pulled cable, a lost machine: its peers hear nothing, until they say something to its next life. */
  silent: {
    happens: 'a node ends, and nobody is told',
    role: 'fault',
    form: /^crash \S+ silently$/,
    glyph: [
      ['hollow', 'M-7 -7h14v14h-14Z'],
      ['line thick', 'M-4 -4L4 4M-4 4L4 -4'],
    ],
  },
  /** As `silent`; what was written but not synced may be lost. */
  power: {
    happens: 'a node loses its power, and what it has not synced',
    role: 'fault',
    words: ['power'],
    isOfNode: true,
    glyph: [
      ['hollow', circle(0, 7)],
      ['line thick', 'M0 -8V0'],
    ],
  },
  /** A sync fails, the disk is full, or a write is short, lost, misdirected or rotten. */
  disk: {
    happens: 'a node’s disk fails',
    role: 'fault',
    words: ['disk'],
    isOfNode: true,
    glyph: [
      ['hollow', circle(0, 7)],
      ['line', 'M-3 -3L3 3M-3 3L3 -3'],
    ],
  },
  /** A read or write is short, a wait ends early, or there is no descriptor. */
  calls: {
    happens: 'a system call of a node does less than it should',
    role: 'fault',
    words: ['calls'],
    isOfNode: true,
    glyph: [
      ['hollow', circle(0, 7)],
      ['line', 'M-3 0H3'],
    ],
  },
  restart: {
    happens: 'a node starts again',
    role: 'repair',
    words: ['restart', 'join'],
    isOfNode: true,
    glyph: [['solid', 'M-6 5L0 -6L6 5Z']],
  },
  partition: {
    happens: 'nodes are cut off',
    role: 'fault',
    words: ['partition', 'cut', 'part'],
    isOfNetwork: true,
    glyph: [['line thick', 'M-5 -7V7M0 -7V7M5 -7V7']],
  },
  heal: {
    happens: 'a partition ends',
    role: 'repair',
    words: ['heal'],
    isOfNetwork: true,
    glyph: [['line thick', 'M-7 0H7M0 -5V5']],
  },
  /** The node is stopped, and its clock goes on. */
  pause: {
    happens: 'a node is paused, and its clock goes on',
    role: 'fault',
    words: ['pause'],
    isOfNode: true,
    glyph: [
      ['hollow', circle(0, 7)],
      ['line thick', 'M-2.5 -3V3M2.5 -3V3'],
    ],
  },
  resume: {
    happens: 'a paused node goes on',
    role: 'repair',
    words: ['resume'],
    isOfNode: true,
    glyph: [
      ['hollow', circle(0, 7)],
      ['solid', 'M-2 -4L4 0L-2 4Z'],
    ],
  },
  /** Threads run in another order: of two that are ready, the other goes on. */
  preempt: {
    happens: 'a thread gives way to the others of its node',
    role: 'fault',
    words: ['preempt'],
    isOfNode: true,
    glyph: [
      ['line thick', 'M-6 -4H2L6 4'],
      ['line thick', 'M-6 4H2L6 -4'],
    ],
  },
  /** As by a step of NTP, or a machine that was suspended: CLOCK_REALTIME alone, forwards or back. */
  clock: {
    happens: 'a node’s wall clock jumps',
    role: 'fault',
    words: ['clock'],
    isOfNode: true,
    glyph: [
      ['hollow', circle(0, 6)],
      ['line', 'M0 -4V0H3'],
      ['line thick', 'M4 -8H8V-4'],
    ],
  },
  /** What a DNS server answers from here on. Who has asked before may remember the other address. */
  name: {
    happens: 'a name means another node',
    role: 'fault',
    words: ['name'],
    isOfNetwork: true,
    glyph: [
      ['line', 'M-6 -5H6V5H-6Z'],
      ['line thick', 'M-3 0H3M0 -3L3 0L0 3'],
    ],
  },
  /** Each next step is then the only one possible. It is offered to no chooser. */
  healthy: {
    happens: 'from here on the network is healthy',
    role: 'change',
    words: ['healthy'],
    glyph: [['line thick', 'M-6 0L-2 5L6 -5']],
  },
  link: {
    happens: 'the settings of a link change',
    role: 'change',
    words: ['link', 'set'],
    isOfNetwork: true,
    glyph: [['line thick', 'M-7 -3H7M-7 3H7']],
  },
  /** It prevents a violation. Only time chooses it. */
  steer: {
    happens: 'steering does something in place of a step',
    role: 'change',
    words: ['steer'],
    glyph: [
      ['hollow', circle(0, 6)],
      ['line thick', 'M-6 0H6M0 0V6'],
    ],
  },
} as const satisfies Readonly<Record<string, Kind>>

/** What is no step, and is shown beside them. */
export const prediction = {
  happens: 'a violation is predicted',
  glyph: [
    ['hollow', 'M0 -7L7 0L0 7L-7 0Z'],
    ['line thick', 'M0 -4V1M0 2.6V4'],
  ],
} as const satisfies Pick<Kind, 'happens' | 'glyph'>

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

const unknownKind: Kind = { happens: '', role: 'change', glyph: [] }

/** What draws a step of this kind. */
export const glyphOf = (kind: ChoiceKind): readonly Stroke[] => rowOf(kind).glyph

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

/** First words of labels that go on with the name of a node. */
export const wordsOfNodes: readonly string[] = allKinds.flatMap(kind =>
  rowOf(kind).isOfNode ? (rowOf(kind).words ?? []) : [],
)

/** The kind of a label that does not begin with the parts of a message or a timer. */
export const kindByWords = (label: string): ChoiceKind | undefined =>
  allKinds.find(kind => rowOf(kind).form?.test(label)) ?? byWord.get(label.split(' ', 1)[0]!)

const byWord: ReadonlyMap<string, ChoiceKind> = new Map(
  allKinds.flatMap(kind => (rowOf(kind).words ?? []).map(word => [word, kind] as const)),
)
