import { constants } from 'node:os'
import { shortened } from '../../checker/system/brief.ts'
import type { Finding } from '../../checker/system/system.ts'
import { requireSpace } from '../files/run-root.ts'
import type { Unsettled } from '../hold/held/cpu-limit.ts'
import { isEnding } from '../hold/turns/is-ending.ts'
import type { Node } from '../node/node.ts'
import type { Runner } from '../runner/runner.ts'
import { errorLineOf } from './error-line.ts'

/** Whether it ended by itself and irregularly. For a supervised node, any end counts. */
export const hasCrashed = (node: Node): boolean => {
  const exit = node.held?.exit
  return exit !== undefined && (node.exits === 'restart' || !('code' in exit && exit.code === 0))
}

/**
 * Whether somebody else killed it. Nodes killed by the tool are not held any more. The last process of a node that has an
 * init may have been killed by a program that a client ran in it.
 */
export const wasKilled = ({ held }: Node): boolean =>
  held?.exit !== undefined &&
  held.exceeded === undefined &&
  held.init !== 'made' &&
  'signal' in held.exit &&
  held.exit.signal === constants.signals.SIGKILL

/** Whether a node was killed, even if its end was not noticed yet. */
export const isGone = (node: Node): boolean =>
  wasKilled(node) ||
  (node.isAlive && node.held!.exceeded === undefined && node.held!.pid !== 0 && isEnding(node.held!.pid))

/** Why a divergence of this execution is no evidence against the system; undefined if it is. */
export const disturbanceOf = ({ nodes, runner }: { nodes: readonly Node[]; runner: Runner }): string | undefined => {
  const node = nodes.find(({ held }) => held !== undefined && held.turnsCut > 0)
  const seconds = runner.hasLongTurns ? 'five seconds' : 'half a second'
  return node && `${node.name} computed for ${seconds} without a wait, and had to let others go first`
}

/** The finding for a node that ended by itself. @throws NoSpace if that may be because what it wrote found no space */
export const crashOf = (node: Node): Finding => {
  requireSpace()
  const exit = node.held!.exit!
  const { exceeded } = node.held!
  if (exceeded !== undefined) return finding('crash', node, `is down: ${exceeded}`)
  const how = 'code' in exit ? `ended with code ${exit.code}` : `was killed by signal ${exit.signal}`
  return finding('crash', node, how)
}

/** The finding for a node that has not opened its ports during its start, or is not healthy. */
export const notReady = (node: Node, awaited: readonly string[]): Finding =>
  finding('crash', node, describeNotReady(node, awaited))

/**
 * What a node that is not ready does, or waits for.
 *
 * @param awaited the addresses from which it waits for an answer
 */
export const describeNotReady = (node: Node, awaited: readonly string[]): string => {
  const does = awaited.length === 0 ? 'is idle' : `waits for ${awaited.join(' and ')}`
  if (node.exits === 'completes') return `${does} and has not ended`
  const closed = node.readiness.closedPorts()
  if (closed.length === 0)
    return node.readiness.healthCheck
      ? `${does}, and "${node.readiness.healthCheck.join(' ')}" fails in it`
      : 'has not come to rest'
  const open = node.readiness.openPorts()
  const instead = open.length === 0 ? 'it listens on no TCP port' : `it listens on ${open.join(', ')}`
  return `${does} and has not opened port ${closed.join(', ')}: ${instead}`
}

/** The finding for a node that does not become quiescent. */
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
  const { stdout, stderr } = node.output()
  const error = errorLineOf(stderr) ?? errorLineOf(stdout)
  const message = `${node.name} ${what}${error === undefined ? '' : `: ${error}`}`
  const found = { kind, node: node.name, bare: { what: message, output } }
  if (error !== undefined) return { ...found, message }
  const shown = output
    .slice(-linesShown)
    .map(line => shortened(line, lineShown))
    .join('\n')
  const wrote = shown === '' ? ', and wrote nothing' : `; its last output: ${JSON.stringify(shown)}`
  return { ...found, message: `${message}${wrote}` }
}

/** Lines of output that are kept for a node that does not start. Other messages use a single line. */
const linesKept = 20
const linesShown = 5
const lineShown = 300
