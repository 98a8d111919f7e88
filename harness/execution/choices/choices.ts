import { type CallFault, callFaultSaid, callFaults } from '../../../checker/happening/call-faults.ts'
import { type DiskFailure, diskFailureSaid, diskFailures } from '../../../checker/happening/disk-failures.ts'
import { labelOf } from '../../../checker/happening/happenings.ts'
import {
  drawnPreemptions,
  type Preemption,
  preemptionIn,
  preemptionLabel,
} from '../../../checker/happening/preemptions.ts'
import { labelsOf, numbersApart } from '../../../checker/system/labels.ts'
import type { Choice, ChoiceKind } from '../../../checker/system/system.ts'
import { bordersIn, type Place, places } from '../../../proxy/borders.ts'
import type { Division } from '../../../proxy/framing.ts'
import type { Message } from '../../../proxy/message.ts'
import type { Network, OpenConnection, Way } from '../../../proxy/network.ts'
import type { FaultKind, ResolvedSystem } from '../../config/config.ts'
import { millisecond, type Nanoseconds } from '../../hold/clock/virtual-clock.ts'
import { isStepFault, type StepFault } from '../../hold/held/step-faults.ts'
import type { Node } from '../../node/node.ts'
import type { Time } from '../../timed/time.ts'
import type { TimedHappening } from '../../timed/timing.ts'
import { type Outcome, outcomesOf, remainders } from '../../unsynced/outcomes.ts'
import { aboutMessage } from './about-message.ts'
import type { ClockReadings, Delays } from './delays.ts'
import type { Healthy } from './healthy.ts'
import { commandRoleOf, partitionsAmong } from './partitions.ts'

/** An input of a node. It enters before the node runs. */
export type Input = { readonly deliver: Message } | { readonly timer: Node }

/** The effect of a choice on the cluster. */
export type Action =
  | { readonly do: 'inputs'; readonly node: string; readonly inputs: readonly Input[] }
  /** What it sends arrives in two parts at such a place, if there is one. */
  | { readonly do: 'client'; readonly client: string; readonly splitsAt?: Place }
  | { readonly do: 'drop' | 'duplicate'; readonly message: Message }
  /** The beginning of a message enters the node; the rest stays in flight. */
  | { readonly do: 'divide'; readonly node: string; readonly message: Message; readonly at: Division }
  | { readonly do: 'disconnect'; readonly connection: OpenConnection }
  | {
      readonly do: 'kill'
      readonly node: string
      readonly peersSee: 'reset' | 'nothing'
      readonly restart: boolean
      /** What is left of its disk, if its power fails. */
      readonly leaves?: Outcome
    }
  /** A fault waits for a node's system calls in a step to come. */
  | ({ readonly do: 'strikeLater'; readonly node: string } & StepFault)
  | { readonly do: 'restart'; readonly node: string }
  | { readonly do: 'cut'; readonly ways: readonly Way[] }
  | { readonly do: 'heal' }
  /** From here on the network is healthy. */
  | { readonly do: 'healthy' }
  /** The machine of a node that is down refuses a connection. */
  | { readonly do: 'refuse'; readonly message: Message }
  /** What a plan or a person may also make happen. */
  | { readonly do: 'happen'; readonly happening: TimedHappening }

export interface Option {
  readonly choice: Choice
  readonly action: Action
  /** This option with the due time that it last had. Kept here: a lookup for each option of each step takes longer. */
  dated?: Option
}

/** The messages that an action takes out of flight. */
export const messagesTaken = (action: Action): readonly Message[] => {
  if (action.do === 'drop' || action.do === 'refuse' || action.do === 'divide') return [action.message]
  return action.do === 'inputs' ? action.inputs.flatMap(input => ('deliver' in input ? input.deliver : [])) : []
}

/** Everything on which the present choices depend. */
export interface Moment {
  readonly system: ResolvedSystem
  readonly nodes: readonly Node[]
  readonly network: Network
  /** Messages that may be delivered now. */
  readonly deliverable: readonly Message[]
  /** What is left of each budget, including `overlap` and `divide`. */
  readonly budget: ReadonlyMap<string, number>
  /** How often each client may still call. */
  readonly calls: ReadonlyMap<string, number>
  /** The clocks when the network was cut; undefined if it is whole. */
  readonly cutAt: ClockReadings | undefined
  /** Whether a call is in progress. After an answer, a client may do anything to any node. */
  readonly isCalling: boolean
  /** Clients that wait for an answer. */
  readonly callers: ReadonlySet<string>
  readonly delays: Delays
  /** Bound on a message's delay, ms of any node's clock; Infinity for none. */
  readonly delayMsMax: number
  /** Bound on how far clocks are apart, ms; Infinity for none. */
  readonly skewMsMax: number
  /** Present once the network is healthy. */
  readonly healthy: Healthy | undefined
  /** For a system with a common time. */
  readonly time: Time | undefined
  /** In a run of all nodes: its start, which says what is due next in it, and when clients begin, in milliseconds. */
  readonly start: { readonly due: readonly TimedHappening[]; readonly clientsFromMs: number } | undefined
}

/** A choice without a message. */
const option = (kind: ChoiceKind, node: string, label: string, action: Action): Option => ({
  choice: { kind, node, label, ...partsOf(label) },
  action,
})

/** What happens in the same way if a plan or a person asks for it. It is due at no time. */
const happening = (kind: 'pause' | 'resume' | 'clock', node: string, said: { readonly byMs?: number } = {}): Option => {
  const happening = { atMs: 0, does: kind, node, ...said } as TimedHappening
  return option(kind, node, labelOf(happening), { do: 'happen', happening })
}

/**
 * How far a search lets a wall clock jump, in milliseconds: a step of NTP, and a suspended machine or a wrong date. What is found
 * by neither is seldom found by any other.
 */
const jumpsMs = [1000, -1000, 3_600_000, -3_600_000] as const

/** What may befall one node by itself, by the kind of the choice. It is the same in every state, so it is made once. */
type NodeFaults = Readonly<
  Record<
    'restart' | 'reset' | 'crash' | 'silent' | 'power' | 'clock' | 'preempt' | 'disk' | 'calls' | 'pause' | 'resume',
    readonly Option[]
  >
>

const faultsOf = (node: Node): NodeFaults => {
  const before = nodeFaults.get(node)
  if (before) return before
  const { name } = node
  const made: NodeFaults = {
    restart: [option('restart', name, `restart ${name}`, { do: 'restart', node: name })],
    reset: [
      option('reset', name, `reset ${name}`, { do: 'kill', node: name, peersSee: 'reset', restart: true }),
      option('reset', name, `reset ${name} silently`, { do: 'kill', node: name, peersSee: 'nothing', restart: true }),
    ],
    crash: [option('crash', name, `crash ${name}`, { do: 'kill', node: name, peersSee: 'reset', restart: false })],
    silent: [
      option('silent', name, `crash ${name} silently`, { do: 'kill', node: name, peersSee: 'nothing', restart: false }),
    ],
    power: failuresLater(name),
    clock: jumpsMs.map(byMs => happening('clock', name, { byMs })),
    disk: diskFailures.flatMap(what => points.map(at => diskFailure(name, { what, at }))),
    calls: callFaults.flatMap(what => points.map(at => callFault(name, { what, at }))),
    preempt: drawnPreemptions.map(each => preemption(name, each)),
    pause: [happening('pause', name)],
    resume: [happening('resume', name)],
  }
  nodeFaults.set(node, made)
  return made
}

const nodeFaults = new WeakMap<Node, NodeFaults>()

/** Cached, because the labels of faults appear in every state. */
const partsOf = (label: string): ReturnType<typeof numbersApart> => {
  const before = parts.get(label)
  if (before) return before
  if (parts.size >= partsMax) parts.clear()
  const found = numbersApart(label)
  parts.set(label, found)
  return found
}

const parts = new Map<string, ReturnType<typeof numbersApart>>()
const partsMax = 10_000

/**
 * In a healthy network only one thing can happen next: a fault ends, or the message that has waited longest arrives, or, if
 * there is none, the timer fires that is due first. All clocks go on together from where they stood when it began.
 */
const healthyOptions = (moment: Moment, { base }: Healthy): Option[] => {
  const { nodes, deliverable, delays, cutAt } = moment
  if (cutAt) return [option('heal', '', 'heal', { do: 'heal' })]
  const [repair] = [...restarts(moment), ...resumes(moment)]
  if (repair) return [repair]
  const oldest = deliverable.find(({ label }) => label === delays.oldest) ?? deliverable[0]
  if (oldest) return [delivery(oldest, false)]
  let first: { readonly node: Node; readonly deadline: Nanoseconds; readonly after: Nanoseconds } | undefined
  for (const [index, node] of nodes.entries()) {
    const deadline = deadlineOf(node)
    if (deadline === undefined) continue
    const after = deadline - base[index]!
    if (first === undefined || after < first.after) first = { node, deadline, after }
  }
  return first ? [timer(first.node, first.deadline, false)] : []
}

/** Whether a property is judged in a healthy network. With a common time, the network is as it is. */
const mayBeHealthy = ({ system, time }: Moment): boolean =>
  time === undefined && Object.values(system.properties).some(({ when }) => when === 'healthy')

/** All present choices, in the order of their kinds. */
export const optionsOf = (moment: Moment): Option[] => {
  if (moment.healthy) return healthyOptions(moment, moment.healthy)
  const inputs = inputOptions(moment)
  return clientOptions(moment).concat(
    inputs,
    left(moment, 'overlap') ? overlapOptions(inputs.filter(input => mayOverlap(moment, input))) : [],
    left(moment, 'divide') ? moment.deliverable.flatMap(message => divisions(moment.network, message)) : [],
    splits(moment),
    messageFaults(moment),
    restarts(moment),
    moment.time ? [] : resumes(moment),
    canHeal(moment) ? [option('heal', '', 'heal', { do: 'heal' })] : [],
    resets(moment),
    faultsOfNodes(moment, ['crash', 'silent', 'power']),
    partitions(moment),
    // Where time decides what happens, only a plan or a person orders these.
    moment.time ? [] : faultsOfNodes(moment, ['pause', 'clock', 'preempt', 'disk', 'calls']),
    mayBeHealthy(moment) ? [option('healthy', '', 'healthy', { do: 'healthy' })] : [],
  )
}

/** When a node's earliest timer is due, by its own clock; undefined if none can fire. */
const deadlineOf = ({ isAlive, isPaused, held }: Node): Nanoseconds | undefined =>
  isAlive && !isPaused ? held!.earliestDeadline() : undefined

/** Whether a kind of fault may affect one of these nodes. */
const befalls = ({ system }: Moment, kind: FaultKind, ...nodes: readonly string[]): boolean =>
  system.faultsOf[kind]?.some(name => nodes.includes(name)) ?? true

const left = ({ budget }: Moment, kind: string) => (budget.get(kind) ?? 0) > 0

/** Each client counts as a place of its own, like a node, so several may begin at once. */
const clientOptions = ({ system, calls }: Moment) =>
  system.clients
    .filter(({ name }) => (calls.get(name) ?? 0) > 0)
    .map(({ name }) => option('client', `client ${name}`, `client ${name}`, { do: 'client', client: name }))

type InputOption = Option & { readonly action: Extract<Action, { do: 'inputs' }> }

const inputOptions = (moment: Moment): InputOption[] => {
  const isLocal = !moment.isCalling
  return [...moment.deliverable.map(message => delivery(message, isLocal)), ...timers(moment)]
}

// Most enabled deliveries were enabled before the last step, so their choices are reused.

const deliveries = new WeakMap<Message, InputOption>()

const delivery = (message: Message, isLocal: boolean): InputOption => {
  const before = deliveries.get(message)
  if (before?.choice.isLocal === isLocal) return before
  const choice: Choice = {
    kind: 'deliver',
    node: message.to,
    label: message.label,
    ...aboutMessage(message),
    isLocal,
  }
  const made = inputOption(choice, { deliver: message })
  deliveries.set(message, made)
  return made
}

const inputOption = (choice: Choice, input: Input): InputOption => ({
  choice,
  action: { do: 'inputs', node: choice.node, inputs: [input] },
})

/**
 * A node's timer may fire if no other clock would be left further behind than the allowed skew, and no message would be
 * in flight for longer than allowed.
 */
const timers = (moment: Moment): InputOption[] => {
  const { system, nodes, isCalling, delayMsMax, skewMsMax, cutAt } = moment
  const isCutLong = cutAt !== undefined && system.cutMsMin > 0
  const isBounded = Math.min(skewMsMax, delayMsMax) < Number.POSITIVE_INFINITY || isCutLong
  const latest = latestIn(moment)
  const options: InputOption[] = []
  for (const [index, node] of nodes.entries()) {
    const deadline = deadlineOf(node)
    if (deadline === undefined || deadline > latest) continue
    if (isBounded && isTooLate(moment, index, deadline)) continue
    options.push(timer(node, deadline, !isCalling && !isBounded))
  }
  return options
}

/** The latest deadline that the allowed skew lets fire. */
const latestIn = ({ nodes, skewMsMax }: Moment): Nanoseconds =>
  skewMsMax === Number.POSITIVE_INFINITY ? skewMsMax : earliestOf(nodes) + skewMsMax * millisecond

/** Whether a message would be in flight for longer than allowed when the `index`-th node's clock shows `deadline`. */
const isTooLate = ({ delays, delayMsMax }: Moment, index: number, deadline: Nanoseconds): boolean =>
  delays.at(index, deadline) > delayMsMax * millisecond

/** A timer that may not fire yet, because of a bound of the configuration. */
export interface HeldBack {
  readonly node: string
  readonly by: 'delay' | 'clocks'
  /** In how many milliseconds of its clock it is due. */
  readonly afterMs: number
}

/** The timers that a bound holds back in this moment. */
export const heldBackIn = (moment: Moment): HeldBack[] => {
  const latest = latestIn(moment)
  return moment.nodes.flatMap((node, index): HeldBack[] => {
    const deadline = deadlineOf(node)
    if (deadline === undefined) return []
    const by = deadline > latest ? 'clocks' : isTooLate(moment, index, deadline) ? 'delay' : undefined
    return by === undefined ? [] : [{ node: node.name, by, afterMs: shownMs(node, deadline) }]
  })
}

/** The earliest deadline of all nodes' timers, each by its own clock; Infinity if there is none. */
export const earliestOf = (nodes: readonly Node[]): Nanoseconds => {
  let earliest = Number.POSITIVE_INFINITY
  for (const node of nodes) earliest = Math.min(earliest, deadlineOf(node) ?? Number.POSITIVE_INFINITY)
  return earliest
}

interface TimerOption {
  readonly deadline: Nanoseconds
  /** Due time on its clock. */
  readonly elapsed: Nanoseconds
  readonly made: InputOption
}

const timerOptions = new WeakMap<Node, TimerOption>()

const timer = (node: Node, deadline: Nanoseconds, isLocal: boolean): InputOption => {
  const { elapsed } = node.clock
  const before = timerOptions.get(node)
  if (before?.deadline === deadline && before.elapsed === elapsed && before.made.choice.isLocal === isLocal)
    return before.made
  const choice: Choice = {
    kind: 'timer',
    node: node.name,
    label: timerLabel(node, deadline),
    subject: 'timer',
    numbers: [shownMs(node, deadline)],
    isLocal,
    afterMs: afterMs(node, deadline),
  }
  const made = inputOption(choice, { timer: node })
  timerOptions.set(node, { deadline, elapsed, made })
  return made
}

const afterMs = (node: Node, deadline: Nanoseconds): number => Math.max(0, deadline - node.clock.elapsed) / millisecond

const shownMs = (node: Node, deadline: Nanoseconds): number => Number(afterMs(node, deadline).toFixed(3))

/** The label of the choice that fires a node's earliest timer. */
export const timerLabel = (node: Node, deadline: Nanoseconds) => `${node.name} timer +${shownMs(node, deadline)}ms`

/** What comes to a paused node meets in its kernel anyway. */
const mayOverlap = ({ nodes }: Moment, { action }: InputOption): boolean =>
  !nodes.some(({ name, isPaused }) => isPaused && name === action.node)

/** Every ordered pair of inputs of one node. */
const overlapOptions = (inputs: readonly InputOption[]): Option[] =>
  inputs.flatMap(first =>
    inputs
      .filter(second => second !== first && second.action.node === first.action.node)
      .map(second => overlap(first, second)),
  )

const overlap = (first: InputOption, second: InputOption): Option => {
  const joins = [first.choice, second.choice]
  const { node } = first.action
  const label = `overlap ${labelsOf(joins).join(' & ')}`
  return {
    choice: { kind: 'overlap', node, label, subject: '', numbers: [], joins },
    action: { do: 'inputs', node, inputs: [...first.action.inputs, ...second.action.inputs] },
  }
}

/** A message is divided before at most so many of its frames: with more, one long write would be most of what is enabled. */
const divisionsMax = 16

/** A message that was written together may arrive in two steps: up to each of its frames, and the rest. */
const divisions = (network: Network, message: Message): Option[] => {
  const { frames = [], to: node } = message
  if (frames.length < 2) return []
  const whole = delivery(message, false).choice
  return frames.slice(1, 1 + divisionsMax).map((_, index) => {
    const count = index + 1
    const part = beginningOf(network, message, count)
    return {
      choice: { kind: 'divide', node, label: `divide ${part.label}`, ...aboutMessage(part), whole },
      action: { do: 'divide', node, message, at: { after: count, of: 'frames' } },
    }
  })
}

const beginnings = new WeakMap<Message, Map<number, Message>>()

/** The part of a message that would arrive first. */
const beginningOf = (network: Network, message: Message, count: number): Message => {
  const known = beginnings.get(message) ?? new Map<number, Message>()
  beginnings.set(message, known)
  const made = known.get(count) ?? network.messages.beginningOf(message, count)
  known.set(count, made)
  return made
}

/** What is sent on a connection may arrive in two parts, at any byte: those of a node, and those of a client's call. */
const splits = (moment: Moment): Option[] => {
  if (!left(moment, 'split') || moment.time) return []
  const { system, deliverable, calls } = moment
  const ofNodes = deliverable
    .filter(({ kind, from, to }) => kind === 'data' && befalls(moment, 'split', from, to))
    .flatMap(splitsOf)
  const ofClients = system.clients
    .filter(({ name }) => (calls.get(name) ?? 0) > 0)
    .flatMap(({ name: client }) =>
      places.map(splitsAt =>
        option('split', `client ${client}`, `split client ${client} at ${splitsAt}`, {
          do: 'client',
          client,
          splitsAt,
        }),
      ),
    )
  return [...ofNodes, ...ofClients]
}

const knownSplits = new WeakMap<Message, readonly Option[]>()

const splitsOf = (message: Message): readonly Option[] => {
  const before = knownSplits.get(message)
  if (before) return before
  const { to: node, label } = message
  const whole = delivery(message, false).choice
  const made = bordersIn(message.bytes).map(
    (at): Option => ({
      choice: { kind: 'split', node, label: `split ${label} at ${at}`, ...aboutMessage(message), whole },
      action: { do: 'divide', node, message, at: { after: at, of: 'bytes' } },
    }),
  )
  knownSplits.set(message, made)
  return made
}

const messageFaults = (moment: Moment): Option[] => {
  const datagrams = moment.deliverable.filter(message => message.kind === 'datagram')
  return (['drop', 'duplicate'] as const).flatMap(kind =>
    left(moment, kind)
      ? datagrams
          .filter(({ from, to }) => befalls(moment, kind, from, to))
          .map(message => ({
            choice: { kind, node: message.to, label: `${kind} ${message.label}`, ...aboutMessage(message) },
            action: { do: kind, message },
          }))
      : [],
  )
}

const restarts = ({ nodes }: Moment): Option[] =>
  nodes.filter(node => node.held === undefined).flatMap(node => faultsOf(node).restart)

const resets = (moment: Moment): Option[] => {
  if (!left(moment, 'reset')) return []
  const { resetsOnly } = moment.system
  const connections = moment.network.faults
    .connections()
    .filter(({ opener, listener }) => befalls(moment, 'reset', opener, listener))
    .map(connection => resetOf(connection))
  return [
    ...(resetsOnly === 'nodes' ? [] : connections),
    ...(resetsOnly === 'connections' ? [] : faultsOfNodes(moment, ['reset'])),
  ]
}

const resetOf = (connection: OpenConnection): Option => {
  const { opener, listener, number, label } = connection
  const { choice, action } = option('reset', opener, `reset ${label}`, { do: 'disconnect', connection })
  return { choice: { from: opener, to: listener, connection: number, ...choice }, action }
}

/** A paused node goes on before anything else befalls it: to the others, a pause without end is as a crash. */
const canFail = ({ isAlive, isPaused }: Node): boolean => isAlive && !isPaused

/** What may befall the nodes now, kind by kind, as far as the budgets go. */
const faultsOfNodes = (moment: Moment, kinds: readonly (FaultKind & keyof NodeFaults)[]): Option[] =>
  kinds
    .filter(kind => left(moment, kind))
    .flatMap(kind =>
      moment.nodes
        .filter(node => canFail(node) && befalls(moment, kind, node.name))
        .flatMap(node => nowOf(moment.system, node, kind)),
    )

/** What may befall a node in its present state. Of each kind of fault, one at most waits for its system calls. */
const nowOf = ({ diskFailures }: ResolvedSystem, node: Node, kind: FaultKind & keyof NodeFaults): readonly Option[] => {
  const options = isStepFault(kind) && !node.mayStrike(kind) ? [] : faultsOf(node)[kind]
  if (kind === 'disk')
    return options.filter(({ action }) => diskFailures.some(what => what === (action as DiskFault).fault.what))
  return kind === 'power' ? [...failuresAtRest(node), ...options] : options
}

/** What strikes in the middle of a step does so at one of the first calls that it may strike. */
const points = [1, 2, 3]

const failuresLater = (node: string): Option[] =>
  points.flatMap(before =>
    remainders.map(leaves =>
      option('power', node, `power ${node} before sync or message ${before} keeps ${leaves}`, {
        do: 'strikeLater',
        node,
        kind: 'power',
        fault: { before, leaves },
      }),
    ),
  )

const failuresAtRest = ({ name, unsynced }: Node): Option[] =>
  unsynced === undefined
    ? []
    : outcomesOf(unsynced.operations, unsynced.model).map(leaves =>
        option('power', name, `power ${name}${leaves.says}`, {
          do: 'kill',
          node: name,
          peersSee: 'nothing',
          restart: false,
          leaves,
        }),
      )

type DiskFault = Extract<Action, { readonly kind: 'disk' }>

const diskFailure = (node: string, fault: DiskFailure): Option =>
  option('disk', node, `disk ${node} ${diskFailureSaid(fault)}`, { do: 'strikeLater', node, kind: 'disk', fault })

const callFault = (node: string, fault: CallFault): Option =>
  option('calls', node, `calls ${node} ${callFaultSaid(fault)}`, { do: 'strikeLater', node, kind: 'calls', fault })

const preemption = (node: string, fault: Preemption): Option =>
  option('preempt', node, preemptionLabel(node, fault), { do: 'strikeLater', node, kind: 'preempt', fault })

/** A preemption at fewer calls than those that are listed; undefined if none of its node is. */
export const preemptionOption = ({ label }: Choice, enabled: readonly Option[]): Option | undefined => {
  const { node, ...asked } = preemptionIn(label) ?? {}
  const isEnabled = enabled.some(({ choice }) => choice.kind === 'preempt' && choice.node === node)
  return node !== undefined && isEnabled ? preemption(node, asked as Preemption) : undefined
}

const resumes = ({ nodes }: Moment): Option[] =>
  nodes.filter(({ isPaused }) => isPaused).flatMap(node => faultsOf(node).resume)

/** A cut does not end before its minimum duration. Until then, timers due within it come first. */
const canHeal = ({ system, nodes, cutAt }: Moment): boolean =>
  cutAt !== undefined &&
  nodes.every((node, index) => {
    const deadline = deadlineOf(node)
    return deadline === undefined || deadline > cutAt[index]! + system.cutMsMin * millisecond
  })

/** A second one may come before the first is healed, if it cuts any more. */
const partitions = (moment: Moment): readonly Option[] => {
  if (!left(moment, 'partition')) return []
  const all = everyPartition.get(moment.nodes) ?? partitionsOf(moment)
  everyPartition.set(moment.nodes, all)
  if (moment.cutAt === undefined) return all
  const cut = new Set(moment.network.faults.cuts())
  return all.filter(({ action }) => action.do === 'cut' && action.ways.some(([from, to]) => !cut.has(`${from}→${to}`)))
}

/** By the nodes of a system. They are the same in every state. */
const everyPartition = new WeakMap<readonly Node[], readonly Option[]>()

const partitionsOf = (moment: Moment): Option[] => {
  const names = moment.nodes.map(({ name }) => name)
  const commands = new Map(moment.system.nodes.map(({ name, command }) => [name, command]))
  return partitionsAmong(names.map(name => ({ name, role: commandRoleOf(commands.get(name) ?? [], names) })))
    .filter(({ nodes, ways }) => befalls(moment, 'partition', ...(ways.length === 1 ? ways[0]! : nodes)))
    .map(({ label, first, ways }) => option('partition', first, label, { do: 'cut', ways }))
}
