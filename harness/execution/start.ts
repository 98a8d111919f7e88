import type { Finding } from '../../checker/system/system.ts'
import type { Network } from '../../proxy/network.ts'
import { unlessInterrupted } from '../hold/turns/interruption.ts'
import { startAgain } from './node-start.ts'
import { PromptStart } from './prompt-start.ts'
import type { Stage } from './stage.ts'
import { TimedStart } from './timed-start.ts'

/** Begins an execution: starts all nodes, one after another. */
export const startAll = async (stage: Stage, variant: number, seed: number): Promise<Finding[]> => {
  const { nodes, runner } = stage
  const network = stage.newNetwork()
  for (const { name, address } of stage.peers) network.attachments.attachPlayed(name, address)
  for (const node of nodes) node.renew(seed + variant)
  stage.shared.renew()
  await unlessInterrupted(Promise.all(nodes.map(node => node.prepare())))
  const { timing } = stage
  if (timing) return startInitial(stage, variant, network, new Set(timing.initial))
  for (const node of nodes) runner.attach(node, network)
  stage.execution = stage.newExecution({ variant, schedule: [] }, network)
  return new PromptStart(stage).run()
}

/**
 * In a system with a common time, programs are loaded in none. What nodes sleep or wait for others meanwhile belongs to the
 * run.
 */
const startInitial = (stage: Stage, variant: number, network: Network, initial: ReadonlySet<string>): Finding[] => {
  const { nodes, runner } = stage
  for (const { name, address } of nodes) network.attachments.announce(name, address)
  stage.execution = stage.newExecution({ variant, schedule: [] }, network)
  stage.tellTime(nodes)
  const there = nodes.filter(({ name }) => initial.has(name))
  const start = TimedStart.of(there)
  stage.execution.start = start
  const first = there.filter(({ name }) => !start.isLater(name))
  for (const node of first) runner.attach(node, network)
  return first.flatMap(node => startAgain(stage, node))
}
