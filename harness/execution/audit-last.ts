import { Diverged, Unfaithful } from '../../checker/errors.ts'
import { describeDifference, differencesOf, type Evidence } from './audit.ts'
import type { Driver } from './driver.ts'
import type { WayThere } from './execution.ts'
import { disturbanceOf } from './findings.ts'
import type { Stage } from './stage.ts'

/**
 * Repeats the last execution on new processes, if its evidence was kept, and compares. A node that did something else
 * is not rewound any more.
 */
export const auditLast = async (stage: Stage, driver: Driver): Promise<void> => {
  const { way, evidence, evidenceFrom } = stage.execution
  if (evidence === undefined || disturbanceOf(stage) !== undefined) return
  const again = await evidenceAnew(stage, driver, way)
  if (again === undefined || disturbanceOf(stage) !== undefined) return
  for (const { node: name, ...found } of differencesOf(evidence, again.slice(evidenceFrom))) {
    const difference = { ...found, step: evidenceFrom + found.step }
    const node = stage.node(name)
    node.close(stage.runner)
    node.stopRewinding()
    stage.notes.add(`${name}: ${describeDifference(difference, way.schedule)}`)
  }
}

/** The evidence on new processes, as far as the schedule can be executed; undefined if that proves nothing. */
const evidenceAnew = async (stage: Stage, driver: Driver, way: WayThere): Promise<readonly Evidence[] | undefined> => {
  for (const node of stage.nodes) node.isAnew = true
  try {
    // The bound of its last steps may not have applied to the first.
    driver.setDelayMsMax(Number.POSITIVE_INFINITY)
    await driver.follow(way)
  } catch (error) {
    if (error instanceof Unfaithful) return undefined
    if (!(error instanceof Diverged)) throw error
  } finally {
    for (const node of stage.nodes) node.isAnew = false
  }
  return stage.execution.evidence
}
