import type { Finding } from '../../checker/system/system.ts'
import type { Node } from '../node/node.ts'
import { crashOf, hasCrashed } from './findings.ts'
import type { Stage } from './stage.ts'

/** CPU time for a start, in milliseconds. It is longer than for a step, because programs are loaded and compiled. */
export const startCpuMsMax = 30_000

/** Starts a node in the middle of an execution. What it waits for is delivered when the search chooses so. */
export const startAgain = (stage: Stage, node: Node): Finding[] => {
  const findings = begin(stage, node)
  return findings.length > 0 || !node.isAlive ? findings : keepStart(stage, node)
}

/** Lets a node run from its beginning until it is idle. */
export const begin = (stage: Stage, node: Node): Finding[] => {
  node.start()
  return goOn(stage, node)
}

/** Lets a node that is in its start run until it is idle. */
export const goOn = (stage: Stage, node: Node): Finding[] => {
  const { findings } = stage.settle([node], startCpuMsMax)
  if (findings.length > 0) return findings
  return node.held?.exit === undefined ? [] : endedItself(node)
}

/** The findings after a node ended by itself. */
export const endedItself = (node: Node): Finding[] => {
  if (node.exits === 'crash' || (node.exits === 'completes' && hasCrashed(node))) return [crashOf(node)]
  if (node.exits === 'restart') node.kill('reset')
  return []
}

/** Keeps the start of a node that is over. */
export const keepStart = (stage: Stage, node: Node): Finding[] => {
  node.held!.isStarting = false
  return node.keepStart() ? stage.settle([node]).findings : []
}
