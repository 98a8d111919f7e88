import { constants } from 'node:os'
import type { Finding } from '../checker/system.ts'
import type { Unsettled } from './hold/cpu-limit.ts'
import { isEnding } from './hold/is-ending.ts'
import type { Node } from './node.ts'

/** Whether it has ended of itself, and not in order. */
export const hasCrashed = (node: Node): boolean => {
  const exit = node.held?.exit
  return exit !== undefined && !('code' in exit && exit.code === 0)
}

/** Whether somebody killed it; whom the tool kills is held no more. */
export const wasKilled = ({ held }: Node): boolean =>
  held?.exit !== undefined && 'signal' in held.exit && held.exit.signal === constants.signals.SIGKILL

/** The same of one whose end may not have been noticed yet. */
export const isGone = (node: Node): boolean =>
  wasKilled(node) || (node.isAlive && node.held!.pid !== 0 && isEnding(node.held!.pid))

/** Of a node that has ended of itself. */
export const crashOf = (node: Node): Finding => {
  const exit = node.held!.exit!
  const how = 'code' in exit ? `ended with code ${exit.code}` : `was killed by signal ${exit.signal}`
  return finding('crash', node, how)
}

/** Of a node whose start is over without these ports being open. */
export const closedPortsOf = (node: Node, ports: readonly number[]): Finding =>
  finding('crash', node, `is idle and has not opened port ${ports.join(', ')}`)

/** Of a node whose start is over without its health check having succeeded. */
export const unhealthyOf = (node: Node): Finding =>
  finding('crash', node, `is idle, and "${node.healthCheck!.join(' ')}" fails in it`)

/** Of a node that does not come to rest. */
export const divergenceOf = (node: Node, { cpuMs }: Unsettled): Finding =>
  finding('divergence', node, `is still busy after ${Math.round(cpuMs)} ms of CPU time`)

const finding = (kind: Finding['kind'], node: Node, what: string): Finding => {
  const output = node.lastOutput()
  const wrote = output === '' ? ', and wrote nothing' : `; its last output: ${JSON.stringify(output)}`
  return { kind, node: node.name, message: `${node.name} ${what}${wrote}` }
}
