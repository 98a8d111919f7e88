import { constants } from 'node:os'
import type { Finding } from '../../checker/system.ts'
import type { Unsettled } from '../hold/cpu-limit.ts'
import { isEnding } from '../hold/is-ending.ts'
import type { Node } from '../node/node.ts'
import { errorLineOf } from './error-line.ts'

/** Whether it has ended of itself, and not in order; a supervisor wants to know it in any case. */
export const hasCrashed = (node: Node): boolean => {
  const exit = node.held?.exit
  return exit !== undefined && (node.exits === 'restart' || !('code' in exit && exit.code === 0))
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
export const divergenceOf = (node: Node, { cpuMs, spinner }: Unsettled): Finding =>
  finding(
    'divergence',
    node,
    cpuMs === undefined
      ? `spins in a few instructions (its thread ${spinner}, counted from 0), and nothing else of it runs`
      : `is still busy after ${Math.round(cpuMs)} ms of CPU time`,
  )

const finding = (kind: Finding['kind'], node: Node, what: string): Finding => {
  const output = node.lastOutput(linesKept)
  const bare = { what: `${node.name} ${what}`, output }
  const error = errorLineOf(node.output().stderr)
  if (error !== undefined) return { kind, node: node.name, message: `${node.name} ${what}: ${error}`, bare }
  const shown = output.slice(-linesShown).join('\n')
  const wrote = shown === '' ? ', and wrote nothing' : `; its last output: ${JSON.stringify(shown)}`
  return { kind, node: node.name, message: `${node.name} ${what}${wrote}`, bare }
}

/** Of its output, for one who has to see why it does not start; and in a message of one line. */
const linesKept = 20
const linesShown = 5
