import { Unfaithful } from '../../checker/system/errors.ts'
import { ConfigError } from '../config/error.ts'
import { isGone, wasKilled } from './findings.ts'
import type { Stage } from './stage.ts'

/**
 * Executes a step or the start, and checks that nothing disturbed it.
 *
 * @param label of the step
 *
 * @throws Unfaithful if packets were lost or damaged between a node and the network, or somebody else killed a node.
 * The nodes' behaviour then depended on something outside of the schedule.
 */
export const faithfully = async <Result>(stage: Stage, label: string, work: () => Promise<Result>): Promise<Result> => {
  const fail = (what: string): never => {
    throw new Unfaithful(stage.execution.stepIndex, label, what)
  }
  const result = await work().catch(error => {
    // A mistake of the configuration is not about a node, so nobody waits to see whether one is about to end.
    if (error instanceof ConfigError) throw error
    const gone = stage.nodes.find(isGone)
    return gone ? fail(`${gone.name} was killed by somebody else`) : Promise.reject(error)
  })
  const killed = stage.nodes.find(wasKilled)
  if (killed) fail(`${killed.name} was killed by somebody else`)
  const { gaps, corrupt } = stage.execution.network.anomalies()
  // Segments that were sent again arrived in the end: they are no anomaly.
  const odd = Object.entries({ gaps, corrupt }).filter(([, count]) => count > 0)
  if (odd.length > 0)
    fail(`the network was not faithful (${odd.map(([name, count]) => `${name}: ${count}`).join(', ')})`)
  return result
}
