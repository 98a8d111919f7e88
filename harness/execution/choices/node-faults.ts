import { type CallFault, callFaultSaid, callFaults } from '../../../checker/happening/call-faults.ts'
import { type DiskFailure, diskFailureSaid, diskFailures } from '../../../checker/happening/disk-failures.ts'
import { labelOf } from '../../../checker/happening/happenings.ts'
import {
  drawnPreemptions,
  type Preemption,
  preemptionIn,
  preemptionLabel,
} from '../../../checker/happening/preemptions.ts'
import type { Choice } from '../../../checker/system/system.ts'
import type { FaultKind, ResolvedSystem } from '../../config/config.ts'
import { isStepFault, type PowerFailure } from '../../hold/held/step-faults.ts'
import type { Node } from '../../node/node.ts'
import type { TimedHappening } from '../../timed/timing.ts'
import { outcomesOf, remainders } from '../../unsynced/outcomes.ts'
import { type Action, type Option, option } from './action.ts'
import { befalls, left, type Moment } from './moment.ts'

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
    | 'restart'
    | 'failingStart'
    | 'reset'
    | 'crash'
    | 'silent'
    | 'power'
    | 'clock'
    | 'preempt'
    | 'disk'
    | 'calls'
    | 'pause'
    | 'resume',
    readonly Option[]
  >
>

export const faultsOf = (node: Node): NodeFaults => {
  const before = nodeFaults.get(node)
  if (before) return before
  const { name } = node
  const made: NodeFaults = {
    restart: [option('restart', name, `restart ${name}`, { do: 'restart', node: name })],
    failingStart: failingStarts(name),
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

/** A paused node goes on before anything else befalls it: to the others, a pause without end is as a crash. */
const canFail = ({ isAlive, isPaused }: Node): boolean => isAlive && !isPaused

/** What may befall the nodes now, kind by kind, as far as the budgets go. */
export const faultsOfNodes = (moment: Moment, kinds: readonly (FaultKind & keyof NodeFaults)[]): Option[] =>
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
  failuresWithin(node, '', fault => ({ do: 'strikeLater', node, kind: 'power', fault }))

/** A node that recovers from one power failure may meet the next one. */
const failingStarts = (node: string): Option[] =>
  failuresWithin(node, ' in its start', fails => ({ do: 'restart', node, fails }))

/** Power failures in the middle of a step. */
const failuresWithin = (node: string, when: string, actionOf: (failure: PowerFailure) => Action): Option[] =>
  points.flatMap(before =>
    remainders.map(leaves =>
      option(
        'power',
        node,
        `power ${node}${when} before sync or message ${before} keeps ${leaves}`,
        actionOf({ before, leaves }),
      ),
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
