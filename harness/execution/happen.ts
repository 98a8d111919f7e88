import type { Does, Manner } from '../../checker/happening/happenings.ts'
import { strikeIn } from '../../checker/happening/strikes.ts'
import { readLabel } from '../../checker/system/labels.ts'
import type { Finding } from '../../checker/system/system.ts'
import { millisecond } from '../hold/clock/virtual-clock.ts'
import type { StepFault } from '../hold/held/step-faults.ts'
import type { Node } from '../node/node.ts'
import type { Happening, Steer, TimedHappening } from '../timed/timing.ts'
import type { PowerOutcome } from '../unsynced/outcomes.ts'
import type { Execution } from './execution.ts'
import { startAgain } from './node-start.ts'
import type { Done, Stage } from './stage.ts'

/** Makes something happen that was planned or requested. */
export const happen = (stage: Stage, happening: TimedHappening): Done => {
  stage.execution.time?.happens(happening)
  stage.execution.start?.happens(happening)
  return (carriedOut[happening.does] as (stage: Stage, happening: Happening) => Done)(stage, happening)
}

/** What each row of `happenings` does to held nodes. */
const carriedOut: {
  readonly [Each in Does]: (stage: Stage, happening: Extract<Happening, { readonly does: Each }>) => Done
} = {
  join: (stage, { node }) => join(stage, stage.node(node)),
  leave: (stage, { node, manner }) => leave(stage, stage.node(node), manner),
  reboot: (stage, { node }) => reboot(stage, stage.node(node)),
  partition: (stage, { groups }) => {
    stage.execution.time!.partition(groups)
    return connect(stage)
  },
  heal: stage => {
    stage.execution.time!.partition(undefined)
    return connect(stage)
  },
  pause: (stage, { node }) => pause(stage, stage.node(node)),
  resume: (stage, { node }) => resume(stage, stage.node(node)),
  clock: (stage, { node, byMs }) => {
    stage.tellTime([stage.node(node)])
    stage.node(node).jumpClock(byMs * millisecond)
    return nothing()
  },
  name: ({ execution: { network } }, { name, node }) => {
    network.names.point(name.toLowerCase(), node)
    return nothing()
  },
  disk: (stage, { node, how }) => strike(stage, node, { kind: 'disk', fault: strikeIn.disk(how)! }),
  preempt: (stage, { node, how }) => strike(stage, node, { kind: 'preempt', fault: strikeIn.preempt(how)! }),
  calls: (stage, { node, how }) => strike(stage, node, { kind: 'calls', fault: strikeIn.calls(how)! }),
  split: (stage, { node, how }) => strike(stage, node, { kind: 'split', fault: strikeIn.split(how)! }),
  reset: (stage, { node, peer }) => reset(stage, node, peer),
  set: (stage, { ways }) => {
    for (const way of ways) stage.execution.time!.set(way)
    return connect(stage)
  },
  link: (stage, change) => {
    stage.execution.time!.changeLink(change)
    return connect(stage)
  },
  exec: ({ execution }, { node, command }) => {
    execution.clients.exec(node, command, execution.stepIndex)
    return nothing()
  },
  connect: (stage, { visitor, node, port }) =>
    visit(stage, node, ({ clients }) => clients.visit(visitor, stage.node(node), port)),
  send: (stage, { visitor, node, data }) =>
    visit(stage, node, ({ clients }) => clients.visitors.send(visitor, Buffer.from(data, 'base64'))),
  end: (stage, { visitor, node, how }) => visit(stage, node, ({ clients }) => clients.visitors.end(visitor, how)),
  steer: (stage, action) => steer(stage, action),
}

/** It strikes in the next step of the node in which it makes such a call. */
const strike = (stage: Stage, name: string, { kind, fault }: StepFault): Done => {
  const node = stage.node(name)
  if (node.isAlive && node.mayStrike(kind)) node.strikeLater(kind, fault)
  return nothing()
}

const steer = (stage: Stage, action: Steer): Done => {
  const { network, time } = stage.execution
  switch (action.how) {
    case 'lose':
      network.messages.drop(network.messages.all().find(({ label }) => label === action.message)!)
      return nothing()
    case 'break': {
      const node = stage.node(action.node)
      stage.tellTime([node])
      network.faults.breakAt(network.messages.all().find(({ label }) => label === action.message)!)
      return stage.settle([node])
    }
    case 'pause':
      time!.standStill(action.node, action.forMs)
      return nothing()
    case 'reboot':
      return reboot(stage, stage.node(action.node))
    case 'wait':
      time!.makeWait(action.client, action.forMs)
      return nothing()
    case 'refuse':
      return visit(stage, action.node, ({ clients }) => clients.visitors.end(action.visitor, 'reset'))
  }
}

/** Visitors are attended at the end of the step, like clients. */
const visit = (stage: Stage, name: string, come: (execution: Execution) => void): Done => {
  const node = stage.node(name)
  stage.tellTime(stage.nodes)
  come(stage.execution)
  return stage.settle(node.isAlive ? [node] : [])
}

/** Applies cuts and heals to the network. */
const connect = ({ execution: { network, time } }: Stage): Done => {
  const { cut, joined } = time!.changedWays()
  network.faults.heal(joined)
  network.faults.cut(cut)
  const ways = new Set(joined.map(way => way.join(' ')))
  time!.passableAgain(network.messages.deliverable().filter(({ from, to }) => ways.has(`${from} ${to}`)))
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
    node.kill('reset')
  }
  stage.tellTime([node])
  stage.runner.attach(node, network)
  const findings = startAgain(stage, node)
  time!.passableAgain(network.messages.deliverable().filter(({ to }) => to === node.name))
  return { findings, touched: [node] }
}

const leave = (stage: Stage, node: Node, manner: Manner): Done => {
  const { time } = stage.execution
  if (manner === 'cut') {
    time!.unplug(node.name, true)
    return connect(stage)
  }
  if (!node.isAlive) return nothing()
  if (manner === 'kill' || manner === 'power') {
    time!.hasLeft(node.name)
    node.kill(manner === 'kill' ? 'reset' : 'nothing', manner === 'power' ? nothingLeft : undefined)
    return { findings: [], touched: [node] }
  }
  time!.leaves(node.name)
  stage.tellTime([node])
  process.kill(node.held!.pid, 'SIGTERM')
  return stage.settle([node])
}

const reboot = (stage: Stage, node: Node): Done => {
  leave(stage, node, 'kill')
  return join(stage, node)
}
/** A plan does not choose what is left of a disk: all that was not synced is lost. */
const nothingLeft: PowerOutcome = { says: '', kept: [], tornAt: undefined }

const pause = (stage: Stage, node: Node): Done => {
  if (node.isAlive && !node.isPaused) node.pause(stage.clocks())
  return nothing()
}

/**
 * Its clock has gone on. Timers that came due during the pause fire now, and messages that arrived enter the node now.
 */
const resume = (stage: Stage, node: Node): Done => {
  const { pausedAt } = node
  if (pausedAt === undefined) return nothing()
  const passed = stage.passedInPauseOf(node)
  if (stage.execution.time) stage.tellTime([node])
  else node.moveClockTo(pausedAt[stage.nodes.indexOf(node)]! + passed)
  stage.execution.remember(node.name, readLabel(`late by ${passed} ns`))
  node.resume()
  return stage.settle([node])
}

/** A node that was asked to end has ended. This is not a crash, and its kernel is gone. */
export const noteLeft = ({ execution: { time } }: Stage, nodes: readonly Node[]): void => {
  for (const node of nodes) {
    if (!time?.isLeaving(node.name) || node.held?.exit === undefined) continue
    time.hasLeft(node.name)
    node.kill('reset')
  }
}

const reset = (stage: Stage, one: string, other: string): Done => {
  const { network } = stage.execution
  const open = network.faults.connections().filter(({ opener, listener }) => {
    const ends = [opener, listener]
    return ends.includes(one) && ends.includes(other)
  })
  const ends = [stage.node(one), stage.node(other)].filter(({ isAlive }) => isAlive)
  stage.tellTime(ends)
  for (const connection of open) network.faults.resetConnection(connection)
  return open.length === 0 ? nothing() : stage.settle(ends)
}

const nothing = (): { findings: Finding[]; touched: Node[] } => ({ findings: [], touched: [] })
