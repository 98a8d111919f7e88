import type { Finding } from '../../checker/system/system.ts'
import type { Node } from '../node/node.ts'
import type { Stage } from './stage.ts'

/** Looks who has become ready in a step of a run whose start is not over. */
export const seeWhoIsReady = async (stage: Stage, touched: readonly Node[]): Promise<Finding[]> => {
  const { start, time } = stage.execution
  if (start === undefined || start.isOver) return []
  const ready: string[] = []
  const findings: Finding[] = []
  for (const node of touched)
    if (start.isWaiting(node.name) && (await isReady(stage, node, findings))) ready.push(node.name)
  start.becameReady(ready, time!)
  return findings
}

/** A node that has ended keeps nobody waiting. */
const isReady = async (stage: Stage, node: Node, findings: Finding[]): Promise<boolean> => {
  if (!node.isAlive) return true
  if (node.readiness.isAwaited) return false
  if (node.readiness.healthCheck === undefined) return true
  const settle = () => {
    const found = stage.settleAlive([node])
    findings.push(...found)
    return found
  }
  const result = await stage.execution.clients.run(node, node.readiness.healthCheck, settle)
  if (result !== undefined) return result.exitCode === 0
  // Messages arrive only later, and no check waits so long.
  stage.notes.add(`${node.name}: its health check waits for other nodes, so it counts as ready once its ports are open`)
  return true
}
