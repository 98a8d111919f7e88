import type { Finding } from '../../checker/system.ts'
import type { Node } from '../node/node.ts'
import type { Steer, TimedAction, Visit } from '../timed/timing.ts'
import { startAgain } from './node-start.ts'
import type { Done, Stage } from './stage.ts'

/** Performs a planned or requested action. */
export const happen = (stage: Stage, action: TimedAction): Done => {
  const { execution } = stage
  const time = execution.time!
  time.happens(action)
  switch (action.does) {
    case 'join':
      return join(stage, stage.node(action.node))
    case 'leave':
      return leave(stage, stage.node(action.node), action.manner)
    case 'restart': {
      const node = stage.node(action.node)
      leave(stage, node, 'kill')
      return join(stage, node)
    }
    case 'partition':
      time.partition(action.groups)
      break
    case 'heal':
      time.partition(undefined)
      break
    case 'reset':
      return reset(stage, action.node, action.peer)
    case 'connect':
    case 'send':
    case 'end':
      return visit(stage, action)
    case 'steer':
      return steer(stage, action)
    case 'exec':
      execution.clients.exec(action.node, action.command, execution.stepIndex)
      return nothing()
    case 'link':
      time.changeLink(action)
      break
    case 'set':
      for (const way of action.ways) time.set(way)
      break
  }
  return connect(stage)
}

const steer = (stage: Stage, action: Steer): Done => {
  const { network, time } = stage.execution
  switch (action.how) {
    case 'lose':
      network.drop(network.inFlight().find(({ label }) => label === action.message)!)
      return nothing()
    case 'break': {
      const node = stage.node(action.node)
      stage.tellTime([node])
      network.breakAt(network.inFlight().find(({ label }) => label === action.message)!)
      return stage.settle([node])
    }
    case 'pause':
      time!.standStill(action.node, action.forMs)
      return nothing()
    case 'wait':
      time!.makeWait(action.client, action.forMs)
      return nothing()
  }
}

/** Visitors are attended at the end of the step, like clients. */
const visit = (stage: Stage, action: Visit): Done => {
  const { clients } = stage.execution
  const node = stage.node(action.node)
  stage.tellTime(stage.nodes)
  switch (action.does) {
    case 'connect':
      clients.visit(action.visitor, node, action.port)
      break
    case 'send':
      clients.visitors.send(action.visitor, Buffer.from(action.data, 'base64'))
      break
    case 'end':
      clients.visitors.end(action.visitor, action.how)
      break
  }
  return stage.settle(node.isAlive ? [node] : [])
}

/** Applies cuts and heals to the network. */
const connect = ({ execution: { network, time } }: Stage): Done => {
  const { cut, joined } = time!.changedWays()
  network.heal(joined)
  network.cut(cut)
  const ways = new Set(joined.map(way => way.join(' ')))
  time!.passableAgain(network.deliverable().filter(({ from, to }) => ways.has(`${from} ${to}`)))
  return nothing()
}

const join = (stage: Stage, node: Node): Done => {
  const { network, time } = stage.execution
  if (time!.isUnplugged(node.name)) {
    time!.unplug(node.name, false)
    return connect(stage)
  }
  if (node.held !== undefined) {
    if (node.isAlive) return nothing()
    node.kill(stage.runner, 'reset')
  }
  stage.tellTime([node])
  stage.runner.attach(node, network)
  const findings = startAgain(stage, node)
  time!.passableAgain(network.deliverable().filter(({ to }) => to === node.name))
  return { findings, touched: [node] }
}

const leave = (stage: Stage, node: Node, manner: 'stop' | 'kill' | 'cut'): Done => {
  const { time } = stage.execution
  if (manner === 'cut') {
    time!.unplug(node.name, true)
    return connect(stage)
  }
  if (!node.isAlive) return nothing()
  if (manner === 'kill') {
    time!.hasLeft(node.name)
    node.kill(stage.runner, 'reset')
    return { findings: [], touched: [node] }
  }
  time!.leaves(node.name)
  stage.tellTime([node])
  process.kill(node.held!.pid, 'SIGTERM')
  return stage.settle([node])
}

/** A node that was asked to end has ended. This is not a crash, and its kernel is gone. */
export const noteLeft = ({ runner, execution: { time } }: Stage, nodes: readonly Node[]): void => {
  for (const node of nodes) {
    if (!time?.isLeaving(node.name) || node.held?.exit === undefined) continue
    time.hasLeft(node.name)
    node.kill(runner, 'reset')
  }
}

const reset = (stage: Stage, one: string, other: string): Done => {
  const { network } = stage.execution
  const open = network.connections().filter(({ opener, listener }) => {
    const ends = [opener, listener]
    return ends.includes(one) && ends.includes(other)
  })
  const ends = [stage.node(one), stage.node(other)].filter(({ isAlive }) => isAlive)
  stage.tellTime(ends)
  for (const connection of open) network.resetConnection(connection)
  return open.length === 0 ? nothing() : stage.settle(ends)
}

const nothing = (): { findings: Finding[]; touched: Node[] } => ({ findings: [], touched: [] })
