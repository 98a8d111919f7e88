import { nodeOf, startsNode } from '../../checker/happening/happenings.ts'
import { readLabel } from '../../checker/system/labels.ts'
import type { Choice } from '../../checker/system/system.ts'
import { byteAt } from '../../proxy/borders.ts'
import { millisecond } from '../hold/clock/virtual-clock.ts'
import type { Node } from '../node/node.ts'
import type { Action, Input, Option } from './choices/action.ts'
import { earliestOf } from './choices/timers.ts'
import type { Execution } from './execution.ts'
import { happen } from './happen.ts'
import { startAgain } from './node-start.ts'
import type { Done, Stage } from './stage.ts'

/** The node that an action starts and that must be prepared; undefined for none. */
const startedBy = (action: Action): string | undefined => {
  if (action.do === 'restart' || (action.do === 'kill' && action.restart)) return action.node
  return action.do === 'happen' && startsNode(action.happening) ? nodeOf(action.happening) : undefined
}

/** Does the slow part of starting a node, if an action does that. */
export const prepareStart = async (stage: Stage, action: Action): Promise<void> => {
  const started = startedBy(action)
  if (started === undefined) return
  const node = stage.node(started)
  if (action.do === 'restart' && action.fails) node.failInStart(action.fails)
  await node.prepare()
}

/** The nodes that an action names. */
const namedBy = (action: Action): readonly string[] => {
  if (action.do === 'disconnect') return [action.connection.opener, action.connection.listener]
  return 'node' in action ? [action.node] : []
}

/** The nodes whose clocks must show the present time before an action. */
const concerned = ({ nodes, execution: { clients } }: Stage, action: Action): readonly Node[] =>
  action.do === 'client' || clients.isCalling ? nodes : nodes.filter(({ name }) => namedBy(action).includes(name))

/** Performs a choice and lets the nodes concerned settle. */
export const carryOut = (stage: Stage, { choice, action }: Option): Done => {
  stage.execution.spend(choice)
  stage.tellTime(concerned(stage, action))
  stage.runner.feedsFirst = action.do === 'client' && action.other !== undefined
  return (carriedOut[action.do] as (stage: Stage, action: Action, choice: Choice) => Done)(stage, action, choice)
}

/** The function that carries out each kind of action. */
const carriedOut: {
  readonly [Each in Action['do']]: (stage: Stage, action: Extract<Action, { do: Each }>, choice: Choice) => Done
} = {
  inputs: (stage, { node, inputs }, choice) =>
    enter(stage, stage.node(node), splitIfAsked(stage, stage.node(node), inputs), choice),
  divide: (stage, { node, message, at }, choice) => {
    const { network, delays } = stage.execution
    const [first, rest] = network.messages.divide(message, at)
    delays.continueAs(message, rest)
    return enter(stage, stage.node(node), [{ deliver: first }], choice)
  },
  client: ({ nodes, execution }, { client, splitsAt, other }) => {
    execution.clients.call(client, execution.stepIndex, splitsAt)
    if (other !== undefined) execution.clients.call(other, execution.stepIndex)
    return { findings: [], touched: nodes }
  },
  drop: (stage, { message }) => withoutNode(stage, ({ network }) => network.messages.drop(message)),
  refuse: (stage, { message }) => withoutNode(stage, ({ network }) => network.messages.refuse(message)),
  duplicate: (stage, { message }) => withoutNode(stage, ({ network }) => network.messages.duplicate(message)),
  disconnect: (stage, action, { label }) => {
    stage.execution.network.faults.resetConnection(action.connection)
    const ends = namedBy(action)
    for (const node of ends) remember(stage, node, label)
    return stage.settle(stage.nodes.filter(({ name }) => ends.includes(name)))
  },
  kill: (stage, { node: name, peersSee, restart, leaves }, { label }) => {
    remember(stage, name, label)
    const node = stage.node(name)
    node.kill(peersSee, leaves)
    return restart ? startNode(stage, node) : { findings: [], touched: [node] }
  },
  strikeLater: (stage, { node, kind, fault }, { label }) => {
    remember(stage, node, label)
    stage.node(node).strikeLater(kind, fault)
    return withoutNode(stage, () => {})
  },
  restart: (stage, { node }, { label }) => {
    remember(stage, node, label)
    return startNode(stage, stage.node(node))
  },
  cut: (stage, { ways }) =>
    withoutNode(stage, execution => {
      execution.network.faults.cut(ways)
      execution.cutAt = stage.clocks()
    }),
  heal: stage =>
    withoutNode(stage, execution => {
      execution.network.faults.heal()
      execution.cutAt = undefined
    }),
  healthy: stage =>
    withoutNode(stage, execution => {
      execution.healthy = { base: stage.clocks(), elapsed: 0 }
    }),
  happen: (stage, { happening }, { node, label }) => {
    if (node !== '') remember(stage, node, label)
    return happen(stage, happening)
  },
}

/** Something that no node notices. */
const withoutNode = ({ execution }: Stage, change: (execution: Execution) => void): Done => {
  change(execution)
  return { findings: [], touched: [] }
}

/** It is part of the node's history. */
const remember = ({ execution }: Stage, node: string, label: string): void => execution.remember(node, readLabel(label))

/** The first part of a message, if it was planned that the next one arrives in two. The rest is sent once more. */
const splitIfAsked = ({ execution }: Stage, { held }: Node, inputs: readonly Input[]): readonly Input[] => {
  const place = held?.waitingFaults.get('split')
  const [input] = inputs
  if (place === undefined || input === undefined || !('deliver' in input)) return inputs
  const { kind, bytes } = input.deliver
  if (kind !== 'data' || bytes.length < 2) return inputs
  held!.waitingFaults.delete('split')
  const [first] = execution.network.messages.divide(input.deliver, { after: byteAt(place, bytes.length), of: 'bytes' })
  return [{ deliver: first }]
}

/** Several inputs enter while the node is stopped, so that it finds all of them when it continues. */
const enter = (stage: Stage, node: Node, inputs: readonly Input[], choice: Choice): Done => {
  const { runner, execution } = stage
  const held = node.held!
  execution.remember(node.name, choice, inputs)
  const isOverlap = inputs.length > 1
  // A timer that comes first must fire before the node is stopped, because its wait must end by time.
  if (isOverlap) runner.freeze(held)
  for (const input of inputs) {
    if ('deliver' in input) execution.network.messages.deliver(input.deliver)
    else fire(stage, node)
  }
  stage.limitSkew()
  if (isOverlap) runner.tracer.stopped.thaw(held)
  return stage.settle([node])
}

const fire = ({ execution, nodes }: Stage, node: Node): void => {
  const held = node.held!
  const deadline = held.earliestDeadline()
  if (deadline !== undefined) {
    const delay = execution.delays.at(nodes.indexOf(node), deadline)
    if (delay > 0) execution.delayMs = Math.max(execution.delayMs ?? 0, Math.ceil(delay / millisecond))
    const skew = deadline - earliestOf(nodes)
    if (skew > 0 && !execution.healthy)
      execution.skewMs = Math.max(execution.skewMs ?? 0, Math.ceil(skew / millisecond))
  }
  held.fireEarliest()
}

const startNode = (stage: Stage, node: Node): Done => {
  stage.limitSkew()
  stage.runner.attach(node, stage.execution.network)
  return { findings: startAgain(stage, node), touched: [node] }
}
