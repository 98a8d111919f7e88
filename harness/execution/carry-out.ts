import { nodeOf, startsNode } from '../../checker/happening/happenings.ts'
import { readLabel } from '../../checker/system/labels.ts'
import type { Choice } from '../../checker/system/system.ts'
import { millisecond } from '../hold/clock/virtual-clock.ts'
import type { Node } from '../node/node.ts'
import { type Action, earliestOf, type Input, type Option } from './choices.ts'
import { happen } from './happen.ts'
import { startAgain } from './node-start.ts'
import type { Done, Stage } from './stage.ts'

/** The node that an action starts and that must be prepared; undefined for none. */
export const startedBy = (action: Action): string | undefined => {
  if (action.do === 'restart' || (action.do === 'kill' && action.restart)) return action.node
  return action.do === 'happen' && startsNode(action.action) ? nodeOf(action.action) : undefined
}

/** The nodes whose clocks must show the present time before an action. */
const concerned = ({ nodes, execution: { clients } }: Stage, action: Action): readonly Node[] => {
  if (action.do === 'client' || clients.isCalling) return nodes
  if (action.do === 'inputs' || action.do === 'divide' || action.do === 'kill' || action.do === 'restart')
    return nodes.filter(({ name }) => name === action.node)
  if (action.do === 'disconnect')
    return nodes.filter(({ name }) => [action.connection.opener, action.connection.listener].includes(name))
  return []
}

/** Performs a choice and lets the nodes concerned settle. */
export const carryOut = (stage: Stage, { choice, action }: Option): Done => {
  const { execution } = stage
  const { network } = execution
  execution.spend(choice)
  stage.tellTime(concerned(stage, action))
  switch (action.do) {
    case 'inputs':
      return enter(stage, stage.node(action.node), action.inputs, choice)
    case 'divide': {
      const [first, rest] = network.divide(action.message, action.count)
      execution.delays.continueAs(action.message, rest)
      return enter(stage, stage.node(action.node), [{ deliver: first }], choice)
    }
    case 'client':
      execution.clients.call(action.client, execution.stepIndex)
      return { findings: [], touched: stage.nodes }
    case 'drop':
      network.drop(action.message)
      return nothing()
    case 'refuse':
      network.refuse(action.message)
      return nothing()
    case 'happen':
      if (choice.node !== '') execution.remember(choice.node, readLabel(choice.label))
      return happen(stage, action.action)
    case 'duplicate':
      network.duplicate(action.message)
      return nothing()
    case 'disconnect': {
      const { connection } = action
      network.resetConnection(connection)
      const ends = [connection.opener, connection.listener]
      for (const node of ends) execution.remember(node, readLabel(choice.label))
      return stage.settle(stage.nodes.filter(({ name }) => ends.includes(name)))
    }
    case 'kill':
      execution.remember(action.node, readLabel(choice.label))
      return kill(stage, action)
    case 'restart':
      execution.remember(action.node, readLabel(choice.label))
      return restart(stage, stage.node(action.node))
    case 'cut':
      network.cut(action.ways)
      execution.cutAt = stage.clocks()
      return nothing()
    case 'heal':
      network.heal()
      execution.cutAt = undefined
      return nothing()
    case 'healthy':
      execution.healthy = { base: stage.clocks(), elapsed: 0 }
      return nothing()
  }
}

const nothing = (): Done => ({ findings: [], touched: [] })

/** Several inputs enter while the node is stopped, so that it finds all of them when it continues. */
const enter = (stage: Stage, node: Node, inputs: readonly Input[], choice: Choice): Done => {
  const { runner, execution } = stage
  const held = node.held!
  execution.remember(node.name, choice, inputs)
  const isOverlap = inputs.length > 1
  // A timer that comes first must fire before the node is stopped, because its wait must end by time.
  if (isOverlap) runner.freeze(held)
  for (const input of inputs) {
    if ('deliver' in input) execution.network.deliver(input.deliver)
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

const kill = (stage: Stage, action: Extract<Action, { do: 'kill' }>): Done => {
  const node = stage.node(action.node)
  node.kill(stage.runner, action.peersSee)
  return action.restart ? restart(stage, node) : { findings: [], touched: [node] }
}

const restart = (stage: Stage, node: Node): Done => {
  stage.limitSkew()
  stage.runner.attach(node, stage.execution.network)
  return { findings: startAgain(stage, node), touched: [node] }
}
