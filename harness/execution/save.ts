import { join } from 'node:path'
import { findCriu } from '../checkpoint/criu.ts'
import { CannotCheckpoint } from '../checkpoint/error.ts'
import type { ClientsMark } from '../clients/clients.ts'
import { bytesIn, checkpointReasonOf, type SavedCluster } from './cluster-checkpoint.ts'
import type { WayThere } from './execution.ts'
import type { Stage } from './stage.ts'

/**
 * Saves the nodes and the present execution to a directory. The nodes continue.
 *
 * @param outline of the present state
 *
 * @throws CannotCheckpoint, SystemError, CannotMark
 */
export const saveInto = (
  directory: string,
  stage: Stage,
  { clients, outline }: { clients: ClientsMark; outline: string },
): SavedCluster => {
  const criu = findCriu()
  const nodes = stage.nodes.map(node => node.save(criu, join(directory, node.name)))
  requireStill(stage, outline)
  return { directory, bytes: bytesIn(directory), nodes, execution: stage.execution.mark(clients), outline }
}

/** Restores a saved state. Returns why that was not possible. */
export const bringBack = (stage: Stage, saved: SavedCluster, way: WayThere): string | undefined => {
  stage.endExecution()
  try {
    makeAgain(stage, saved, way)
    const [finding] = stage.settleAlive()
    if (finding) throw new CannotCheckpoint(finding.message)
    stage.execution.network.endStep()
    stage.watchUnanswered()
    stage.execution.goOn()
    const outline = stage.outline()
    if (outline !== saved.outline) throw new CannotCheckpoint(`it is another now: ${saved.outline}, then ${outline}`)
    return undefined
  } catch (error) {
    return checkpointReasonOf(error)
  }
}

const requireStill = (stage: Stage, outline: string): void => {
  const [finding] = stage.settleAlive()
  if (finding) throw new CannotCheckpoint(finding.message)
  if (stage.outline() !== outline) throw new CannotCheckpoint('it does not stand still')
}

const makeAgain = (stage: Stage, { execution, nodes }: SavedCluster, way: WayThere): void => {
  const criu = findCriu()
  const network = stage.newNetwork(execution.network)
  for (const [index, node] of stage.nodes.entries()) node.restore(nodes[index]!, criu, network)
  network.kernels.goOn()
  stage.execution = stage.newExecution(way, network, execution)
  for (const { held } of stage.nodes) if (held) stage.runner.tracer.stopped.thaw(held)
}
