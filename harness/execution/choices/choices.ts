import { labelOf } from '../../../checker/happening/happenings.ts'
import type { OpenConnection } from '../../../proxy/network.ts'
import { millisecond, type Nanoseconds } from '../../hold/clock/virtual-clock.ts'
import type { Node } from '../../node/node.ts'
import { aboutMessage } from './about-message.ts'
import { type Option, option } from './action.ts'
import { delivery, type InputOption } from './deliveries.ts'
import type { Healthy } from './healthy.ts'
import { befalls, left, type Moment } from './moment.ts'
import { faultsOf, faultsOfNodes } from './node-faults.ts'
import { commandRoleOf, partitionsAmong } from './partitions.ts'
import { deadlineOf, timer, timers } from './timers.ts'
import { type ClientOption, clientsAtOnce, divisions, mayOverlap, overlapOptions, splits } from './together.ts'

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
  const calls = clientOptions(moment)
  const inputs = inputOptions(moment)
  return ([] as Option[]).concat(
    calls,
    inputs,
    left(moment, 'overlap') ? overlapOptions(inputs.filter(input => mayOverlap(moment, input))) : [],
    left(moment, 'overlap') ? clientsAtOnce(moment, calls) : [],
    left(moment, 'divide') ? moment.deliverable.flatMap(message => divisions(moment.network, message)) : [],
    splits(moment),
    messageFaults(moment),
    restarts(moment),
    moment.time ? [] : resumes(moment),
    canHeal(moment) ? [option('heal', '', 'heal', { do: 'heal' })] : [],
    resets(moment),
    faultsOfNodes(moment, ['crash', 'silent', 'power']),
    moment.time ? [] : failingStarts(moment),
    partitions(moment),
    names(moment),
    // Where time decides what happens, only a plan or a person orders these.
    moment.time ? [] : faultsOfNodes(moment, ['pause', 'clock', 'preempt', 'disk', 'calls']),
    mayBeHealthy(moment) ? [option('healthy', '', 'healthy', { do: 'healthy' })] : [],
  )
}

/** Each client counts as a place of its own, like a node, so several may begin at once. */
const clientOptions = ({ system, calls }: Moment): ClientOption[] =>
  system.clients
    .filter(({ name }) => (calls.get(name) ?? 0) > 0)
    .map(({ name }) => {
      const action = { do: 'client', client: name } as const
      return { ...option('client', `client ${name}`, `client ${name}`, action), action }
    })

const inputOptions = (moment: Moment): InputOption[] => [
  ...moment.deliverable.map(message => delivery(message, moment.areInputsLocal)),
  ...timers(moment),
]

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

/** A node that is down starts, and its power fails meanwhile. */
const failingStarts = (moment: Moment): Option[] =>
  left(moment, 'power')
    ? moment.nodes
        .filter(node => node.held === undefined && node.stopsFor('power') && befalls(moment, 'power', node.name))
        .flatMap(node => faultsOf(node).failingStart)
    : []

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

/** Each name may mean any other node of its list. */
const names = (moment: Moment): readonly Option[] => {
  if (moment.time !== undefined || !left(moment, 'name')) return []
  const meant = moment.network.names.all()
  return Object.entries(moment.system.names).flatMap(([name, nodes]) =>
    nodes
      .filter(node => node !== meant[name] && befalls(moment, 'name', node))
      .map(node => {
        const happening = { atMs: 0, does: 'name', name, node } as const
        return option('name', '', labelOf(happening), { do: 'happen', happening })
      }),
  )
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
