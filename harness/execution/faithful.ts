import { Unfaithful } from '../../checker/system/errors.ts'
import { isGone, wasKilled } from './findings.ts'
import type { Stage } from './stage.ts'

/**
 * Does a step or the start.
 *
 * @param label of the step
 *
 * @throws Unfaithful if packets were lost or damaged between a node and the network, or somebody else killed a node.
 * The nodes then did not do what they would have done
 */
export const faithfully = async <Result>(stage: Stage, label: string, work: () => Promise<Result>): Promise<Result> => {
  const fail = (what: string): never => {
    throw new Unfaithful(stage.execution.stepIndex, label, what)
  }
  const result = await work().catch(error => {
    const gone = stage.nodes.find(isGone)
    return gone ? fail(`${gone.name} was killed by somebody else`) : Promise.reject(error)
  })
  const killed = stage.nodes.find(wasKilled)
  if (killed) fail(`${killed.name} was killed by somebody else`)
  const { gaps, corrupt } = stage.execution.network.anomalies()
  // What was sent again did arrive, so it does not count.
  const odd = Object.entries({ gaps, corrupt }).filter(([, count]) => count > 0)
  if (odd.length > 0)
    fail(`the network was not faithful (${odd.map(([name, count]) => `${name}: ${count}`).join(', ')})`)
  return result
}
