import type { Finding } from '../../checker/system.ts'
import type { Network } from '../../proxy/network.ts'
import { unlessInterrupted } from '../hold/interruption.ts'
import { second } from '../hold/virtual-clock.ts'
import type { Node } from '../node/node.ts'
import { closedPortsOf, crashOf, unhealthyOf } from './findings.ts'
import type { Stage } from './stage.ts'

/** CPU time for a start, in milliseconds. It is longer than for a step, because programs are loaded and compiled. */
const startCpuMsMax = 30_000
/** The longest time that a node may sleep, on its own clock, before it listens. */
const startMax = 60 * second

/** Begins an execution: starts all nodes, one after another. */
export const startAll = async (stage: Stage, variant: number, seed: number): Promise<Finding[]> => {
  const { nodes, runner } = stage
  const network = stage.newNetwork()
  for (const { name, address } of stage.peers) network.attachPlayed(name, address)
  for (const node of nodes) node.renew(seed + variant)
  await unlessInterrupted(Promise.all(nodes.map(node => node.prepare())))
  const { timing } = stage
  if (timing) return startInitial(stage, variant, network, new Set(timing.initial))
  for (const node of nodes) runner.attach(node, network)
  stage.execution = stage.newExecution({ variant, schedule: [] }, network)
  const findings: Finding[] = []
  for (const node of nodes) findings.push(...(await startFirst(stage, node)))
  return findings
}

/** In a system with a common time, a start takes none. What a node sleeps meanwhile belongs to the run. */
const startInitial = (stage: Stage, variant: number, network: Network, initial: ReadonlySet<string>): Finding[] => {
  const { nodes, runner } = stage
  for (const { name, address } of nodes) network.announce(name, address)
  stage.execution = stage.newExecution({ variant, schedule: [] }, network)
  stage.tellTime(nodes)
  const there = nodes.filter(({ name }) => initial.has(name))
  for (const node of there) runner.attach(node, network)
  return there.flatMap(node => startAgain(stage, node))
}

/** A first start ends when ports are open and the health check passes. A rewound node has done both. */
const startFirst = async (stage: Stage, node: Node): Promise<Finding[]> => {
  node.start(stage.runner)
  for (;;) {
    const findings = comeUp(stage, node)
    if (findings.length > 0 || node.isResumed || !node.isAlive) return findings
    const closed = node.closedPorts()
    if (closed.length === 0 && (await isHealthy(stage, node))) return keepStart(stage, node)
    if (!awaitsTime(node)) return [closed.length > 0 ? closedPortsOf(node, closed) : unhealthyOf(node)]
    // It sleeps during its start.
    node.held!.fireEarliest()
  }
}

/** Starts a node in the middle of an execution. */
export const startAgain = (stage: Stage, node: Node): Finding[] => {
  node.start(stage.runner)
  const findings = comeUp(stage, node)
  return findings.length > 0 || !node.isAlive ? findings : keepStart(stage, node)
}

const comeUp = (stage: Stage, node: Node): Finding[] => {
  const { findings } = stage.settle([node], startCpuMsMax)
  if (findings.length > 0) return findings
  return node.held?.exit === undefined ? [] : endedItself(stage, node)
}

/** The findings after a node ended by itself. */
export const endedItself = ({ runner }: Stage, node: Node): Finding[] => {
  if (node.exits === 'crash') return [crashOf(node)]
  if (node.exits === 'restart') node.kill(runner, 'reset')
  return []
}

const keepStart = (stage: Stage, node: Node): Finding[] => {
  node.held!.isStarting = false
  return node.keepStart(stage.runner) ? stage.settle([node]).findings : []
}

const isHealthy = async (stage: Stage, node: Node): Promise<boolean> => {
  if (node.healthCheck === undefined) return true
  const result = await stage.execution.clients.run(node, node.healthCheck, () => stage.settleAlive([node]))
  return result?.exitCode === 0
}

/** Whether it may still begin to listen when its clock moves on, within the time of a start. */
const awaitsTime = ({ held }: Node) => (held?.earliestDeadline() ?? Number.POSITIVE_INFINITY) <= startMax
