import type { ChoiceKind } from './kinds.ts'
import type { StrikeKind } from './strikes.ts'
import { type AnyLinkChange, describeLink, describeWay, kindOfChange, type WayChange } from './ways.ts'

/**
 * What a plan, a person or steering makes happen to a running system: one row each. Runs, churn scripts, `control`, labels
 * and measurements read this table; those who carry it out have a function for each row.
 */

/**
 * How a node leaves: `stop` asks the process to end, `kill` ends it, `cut` takes away its links and lets it run, `power`
 * ends it with its kernel, so that nobody tells its peers.
 */
export type Manner = 'stop' | 'kill' | 'cut' | 'power'

export const manners = ['stop', 'kill', 'cut', 'power'] as const satisfies readonly Manner[]

/** The fields of each happening, besides its name. */
export interface Happenings<Pipe = object, LinkChange = AnyLinkChange> {
  /** A node starts, or gets its links back. */
  readonly join: { readonly node: string }
  readonly leave: { readonly node: string; readonly manner: Manner }
  /** A node is killed and started again. */
  readonly reboot: { readonly node: string }
  /** Only nodes of the same group reach each other. Nodes without a group form another one. */
  readonly partition: { readonly groups: readonly (readonly string[])[] }
  readonly heal: Readonly<Record<never, never>>
  /** A node is stopped as by SIGSTOP: it takes no input, and its clock goes on. */
  readonly pause: { readonly node: string }
  readonly resume: { readonly node: string }
  /** A node's wall clock jumps, forwards or back. Its monotonic clock does not notice. */
  readonly clock: { readonly node: string; readonly byMs: number }
  /** A name of the configuration means this node from here on: a DNS server answers its address. */
  readonly name: { readonly name: string; readonly node: string }
  /** What strikes a node in its next step in which it makes such a call: how is in words, as in a label. */
  readonly disk: { readonly node: string; readonly how: string }
  readonly preempt: { readonly node: string; readonly how: string }
  readonly calls: { readonly node: string; readonly how: string }
  /** The next message on a connection arrives in two parts. */
  readonly split: { readonly node: string; readonly how: string }
  /** TCP connections between two nodes are reset. */
  readonly reset: { readonly node: string; readonly peer: string }
  readonly set: { readonly ways: readonly WayChange<Pipe>[] }
  readonly link: LinkChange
  /** A program is run in the node, like a client. */
  readonly exec: { readonly node: string; readonly command: readonly string[] }
  /** A real client comes through a published port. Its connections are numbered from 1, in order of arrival. */
  readonly connect: { readonly visitor: number; readonly node: string; readonly port: number }
  /** Bytes in base64. */
  readonly send: { readonly visitor: number; readonly node: string; readonly data: string }
  readonly end: { readonly visitor: number; readonly node: string; readonly how: 'end' | 'reset' }
  readonly steer: Steered
}

/** What steering does in place of something that would lead to a violation: only what could have happened anyway. */
export type Steered =
  /** A datagram is lost, or the connection of a message is reset in place of its arrival. The message is its label. */
  | { readonly how: 'lose' | 'break'; readonly node: string; readonly message: string }
  /** A node stands still, with its clock. */
  | { readonly how: 'pause'; readonly node: string; readonly forMs: number }
  /** A node is killed and started again. */
  | { readonly how: 'reboot'; readonly node: string }
  /** A client calls later. */
  | { readonly how: 'wait'; readonly client: string; readonly forMs: number }
  /** The connection of a real client is reset, in place of the arrival of what it sends. */
  | { readonly how: 'refuse'; readonly node: string; readonly visitor: number }

export type Does = keyof Happenings

/** Something that happens to a running system. */
export type AnyHappening<Pipe = object, LinkChange = AnyLinkChange> = {
  [Each in Does]: { readonly does: Each } & Happenings<Pipe, LinkChange>[Each]
}[Does]

/** `harm` takes something away, `repair` gives something back, `none` is no change of the system. */
export type Effect = 'harm' | 'repair' | 'none'

/** A plain value of a row: how it is written in a script and in JSON follows from this name. */
export type Value = 'node' | 'word' | 'manner' | 'groups' | 'jump' | StrikeKind

interface Row<Said> {
  /** The kind of step that it is. */
  readonly kind: ChoiceKind | ((said: Said) => ChoiceKind)
  readonly effect: Effect | ((said: Said) => Effect)
  /** Labels are a contract: recorded traces have them, and `labels.ts` reads them. */
  readonly label: (said: Said) => string
  /** What people read of it; the label if absent. */
  readonly sentence?: (said: Said) => string
  /** The nodes that it names; its `node` if absent. */
  readonly names?: (said: Said) => readonly string[]
  /** Types of its fields, in the order of a script; absent if a script cannot write them. */
  readonly takes?: { readonly [Name in keyof Said]: Value }
  /** Whether a plan of churn may have it, and how its line reads in a script. */
  readonly script?: string
  /** Verbs of `control` for a happening of one node: a sentence about the verb, and the fields that it sets. */
  readonly verbs?: Readonly<Record<string, { readonly about: string; readonly says?: Partial<Said> }>>
  /** Whether a real client does this from outside. Loss, delay and partitions do not apply to clients. */
  readonly isVisit?: boolean
  /** Whether a node's program starts. */
  readonly starts?: boolean | ((said: Said) => boolean)
}

/** A row of what strikes a node in its next step, in words such as the example's. */
const strike = <Kind extends StrikeKind>(kind: Kind, example: string) => ({
  kind,
  effect: 'harm' as const,
  label: ({ node, how }: Happenings[StrikeKind]) => `${kind} ${node} ${how}`,
  takes: { node: 'node' as const, how: kind },
  script: `${kind} NODE ${example}`,
})

export const happenings = {
  join: {
    kind: 'restart',
    effect: 'repair',
    label: ({ node }) => `join ${node}`,
    sentence: ({ node }) => `${node} joins`,
    takes: { node: 'node' },
    script: 'join NODE',
    verbs: { join: { about: 'starts a node, or restores its links' } },
    starts: true,
  },
  leave: {
    kind: 'crash',
    effect: 'harm',
    label: ({ node, manner }) => `leave ${node} ${manner}`,
    sentence: ({ node, manner }) => `${node} leaves (${manner})`,
    takes: { node: 'node', manner: 'manner' },
    script: 'leave NODE [MANNER]',
    verbs: {
      stop: { about: 'asks a program to end', says: { manner: 'stop' } },
      kill: { about: 'ends a node at once', says: { manner: 'kill' } },
      cut: { about: 'takes away a node’s links', says: { manner: 'cut' } },
      power: { about: 'cuts a node’s power: it tells its peers nothing', says: { manner: 'power' } },
    },
  },
  reboot: {
    kind: 'reset',
    effect: 'harm',
    label: ({ node }) => `leave ${node} kill, join`,
    // Traces of runs at the pace native have it in their labels.
    sentence: ({ node }) => `${node} restarts`,
    takes: { node: 'node' },
    verbs: {
      reboot: { about: 'kills a node and starts it again' },
      restart: { about: 'the former name of reboot' },
    },
    starts: true,
  },
  partition: {
    kind: 'partition',
    effect: 'harm',
    label: ({ groups }) => `part ${shownGroups(groups)}`,
    sentence: ({ groups }) => `partition ${shownGroups(groups)}`,
    names: ({ groups }) => groups.flat(),
    takes: { groups: 'groups' },
    script: 'partition NODE,NODE NODE',
  },
  heal: { kind: 'heal', effect: 'repair', label: () => 'heal all', sentence: () => 'heal', takes: {}, script: 'heal' },
  pause: {
    kind: 'pause',
    effect: 'harm',
    label: ({ node }) => `pause ${node}`,
    sentence: ({ node }) => `${node} is paused`,
    takes: { node: 'node' },
    script: 'pause NODE',
    verbs: { pause: { about: 'stops a node, whose clock goes on' } },
  },
  resume: {
    kind: 'resume',
    effect: 'repair',
    label: ({ node }) => `resume ${node}`,
    sentence: ({ node }) => `${node} goes on`,
    takes: { node: 'node' },
    script: 'resume NODE',
    verbs: { resume: { about: 'lets a paused node go on' } },
  },
  clock: {
    kind: 'clock',
    effect: 'harm',
    label: ({ node, byMs }) => `clock ${node} ${shownJump(byMs)}`,
    sentence: ({ node, byMs }) =>
      `the wall clock of ${node} jumps ${shownJump(Math.abs(byMs)).slice(1)} ${byMs < 0 ? 'back' : 'ahead'}`,
    takes: { node: 'node', byMs: 'jump' },
    script: 'clock NODE +1h',
  },
  name: {
    kind: 'name',
    effect: 'harm',
    label: ({ name, node }) => `name ${name} is ${node}`,
    sentence: ({ name, node }) => `the name ${name} means ${node} from here on`,
    takes: { name: 'word', node: 'node' },
    script: 'name NAME NODE',
  },
  disk: strike('disk', 'fails at sync 1'),
  preempt: strike('preempt', 'before call 6'),
  calls: strike('calls', 'short read 1'),
  split: strike('split', 'at half'),
  reset: {
    kind: 'reset',
    effect: 'harm',
    label: ({ node, peer }) => `reset ${node} ${peer}`,
    sentence: ({ node, peer }) => `connections of ${node} and ${peer} are reset`,
    names: ({ node, peer }) => [node, peer],
    takes: { node: 'node', peer: 'node' },
  },
  set: {
    kind: change => kindOfChange(setLabel(change))!,
    effect: ({ ways }) =>
      ways.some(({ isCut, pipe }) => isCut === true || (pipe !== undefined && pipe !== null)) ? 'harm' : 'repair',
    label: change => setLabel(change),
    sentence: ({ ways }) => ways.map(way => describeWay(way)).join('; '),
    names: ({ ways }) => ways.flatMap(({ from, to }) => [from, to]),
  },
  link: {
    kind: change => kindOfChange(`link ${describeLink(change)}`)!,
    effect: ({ asBefore, isDown }) => (asBefore !== true && isDown !== false ? 'harm' : 'repair'),
    label: change => `link ${describeLink(change)}`,
    names: () => [],
  },
  exec: {
    kind: 'client',
    effect: 'none',
    label: ({ node, command }) => `exec ${node} ${command.join(' ')}`,
    sentence: ({ node, command }) => `${command.join(' ')} runs in ${node}`,
  },
  connect: {
    kind: 'client',
    effect: 'none',
    label: ({ visitor, node, port }) => `outside ${visitor} connects to ${node}:${port}`,
    isVisit: true,
  },
  send: {
    kind: 'client',
    effect: 'none',
    label: ({ visitor, node, data }) => `outside ${visitor} sends ${bytesIn(data)} bytes to ${node}`,
    isVisit: true,
  },
  end: {
    kind: 'client',
    effect: 'none',
    label: ({ visitor, node, how }) =>
      `outside ${visitor} ${how === 'end' ? 'ends' : 'resets'} its connection to ${node}`,
    isVisit: true,
  },
  steer: {
    kind: 'steer',
    effect: 'none',
    label: steered => `steer ${steeredBy(steered)}`,
    sentence: steered => describeSteered(steered),
    names: steered => ('node' in steered ? [steered.node] : []),
    starts: ({ how }) => how === 'reboot',
  },
} as const satisfies { readonly [Each in Does]: Row<Happenings[Each]> }

/** What happened in a recorded run, by its present name: older traces and schedules say `restart` for `reboot`. */
export const recorded = <Happening extends { readonly does: string }>(happening: Happening): Happening =>
  happening.does === 'restart' ? { ...happening, does: 'reboot' } : happening

type With<Field extends string> = {
  [Each in Does]: (typeof happenings)[Each] extends Readonly<Record<Field, unknown>> ? Each : never
}[Does]

/** What a plan of churn may name. */
export type Scripted = With<'script'>

/** Happenings whose fields are plain values. */
export type Plain = With<'takes'>

/** What `control` may ask of one node. */
export type NodeVerb = {
  [Each in Does]: (typeof happenings)[Each] extends { readonly verbs: infer Verbs } ? keyof Verbs & string : never
}[Does]

const rows = Object.entries(happenings) as unknown as readonly (readonly [Does, Row<AnyHappening>])[]

/** What each plain one says, in the order of a script. */
export const plain = rows.flatMap(([does, { takes, script }]) =>
  takes ? [{ does: does as Plain, takes: takes as Readonly<Record<string, Value>>, script }] : [],
)

/** How a plain one reads as a line: `leave NODE [MANNER]`. */
export const formOf = ({ does, takes, script }: (typeof plain)[number]): string =>
  script ?? [does, ...Object.keys(takes).map(name => name.toUpperCase())].join(' ')

/** The verbs of `control` that concern one node. */
export const nodeVerbs = rows.flatMap(([does, { verbs = {} }]) =>
  Object.entries(verbs).map(([verb, { about, says }]) => ({ verb: verb as NodeVerb, about, says: { does, ...says } })),
)

/** The row of something that happens, for any function that takes it whole. */
const rowOf = ({ does }: AnyHappening): Row<AnyHappening> => happenings[does] as unknown as Row<AnyHappening>

const resolved = <Result>(given: Result | ((happening: AnyHappening) => Result), happening: AnyHappening): Result =>
  typeof given === 'function' ? (given as (happening: AnyHappening) => Result)(happening) : given

/** Its label in a schedule. */
export const labelOf = (happening: AnyHappening): string => rowOf(happening).label(happening)

/** Describes it in a sentence. */
export const sentenceOf = (happening: AnyHappening): string =>
  (rowOf(happening).sentence ?? rowOf(happening).label)(happening)

/** The kind of step that it is. */
export const kindOf = (happening: AnyHappening): ChoiceKind => resolved(rowOf(happening).kind, happening)

export const effectOf = (happening: AnyHappening): Effect => resolved(rowOf(happening).effect, happening)

export const isVisit = (happening: AnyHappening): boolean => rowOf(happening).isVisit === true

/** Whether the happening starts a node's program. */
export const startsNode = (happening: AnyHappening): boolean => resolved(rowOf(happening).starts ?? false, happening)

/** The node that the happening is about; undefined if it is about several or none. */
export const nodeOf = (happening: AnyHappening): string | undefined =>
  'node' in happening ? happening.node : undefined

/** The nodes that a happening names. */
export const namesIn = (happening: AnyHappening): readonly string[] => {
  const node = nodeOf(happening)
  return rowOf(happening).names?.(happening) ?? (node === undefined ? [] : [node])
}

/** The sentence for an intervention of steering. */
const describeSteered = (steered: Steered): string => {
  switch (steered.how) {
    case 'lose':
      return `${steered.message} is lost`
    case 'break':
      return `the connection of ${steered.message} is reset in its place`
    case 'pause':
      return `${steered.node} stands still for ${steered.forMs} ms`
    case 'reboot':
      return `${steered.node} is killed and starts again`
    case 'wait':
      return `${steered.client} waits for ${steered.forMs} ms`
    case 'refuse':
      return `the connection of outside ${steered.visitor} to ${steered.node} is reset in its place`
  }
}

/** The shortest words for what steering does. A label begins with a known word, so that it can be read back. */
const steeredBy = (steered: Steered): string => {
  switch (steered.how) {
    case 'lose':
    case 'break':
      return `${steered.how} ${steered.message}`
    case 'pause':
      return `pause ${steered.node} for ${steered.forMs} ms`
    case 'reboot':
      return `reboot ${steered.node}`
    case 'wait':
      return `wait ${steered.client} for ${steered.forMs} ms`
    case 'refuse':
      return `refuse outside ${steered.visitor} at ${steered.node}`
  }
}

const setLabel = ({ ways }: Happenings['set']): string => `set ${ways.map(way => describeWay(way)).join('; ')}`

/** How far a clock jumps, in the largest unit that allows a whole number: `+1h`, `-90s`. */
const shownJump = (byMs: number): string => {
  const ms = Math.abs(byMs)
  const [unit, length] = unitsOfJumps.find(([, length]) => ms % length === 0) ?? ['ms', 1]
  return `${byMs < 0 ? '-' : '+'}${ms / length}${unit}`
}

const unitsOfJumps = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

const shownGroups = (groups: readonly (readonly string[])[]): string => groups.map(group => group.join(',')).join(' ')

/** How many bytes base64 stands for. The page in the browser has no Buffer. */
const bytesIn = (base64: string): number => (base64.length / 4) * 3 - (/=*$/.exec(base64)?.[0].length ?? 0)
