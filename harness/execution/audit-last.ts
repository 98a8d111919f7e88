import { Diverged, Unfaithful } from '../../checker/system/errors.ts'
import { describeDifference, differencesOf, type Evidence } from './audit.ts'
import type { Driver } from './driver.ts'
import type { WayThere } from './execution.ts'
import { disturbanceOf } from './findings.ts'
import type { Stage } from './stage.ts'

/**
 * Repeats the last execution, if its evidence was kept, and compares: in place if its processes were new, otherwise on
 * new processes.
 *
 * @returns whether a node did something else. None may be rewound any more then: it may have been another that was rewound
 * inexactly, and sent it something else.
 */
export const auditLast = async (stage: Stage, driver: Driver): Promise<boolean> => {
  const { way, evidence, evidenceFrom, beganInPlace } = stage.execution
  if (evidence === undefined || disturbanceOf(stage) !== undefined) return false
  const repeat = () => evidenceAgain(stage, driver, way)
  const again = await (beganInPlace ? stage.keepingNothing(repeat) : repeat())
  if (again === undefined || disturbanceOf(stage) !== undefined) return false
  const differences = differencesOf(evidence, again.slice(evidenceFrom))
  for (const { node, ...found } of differences) {
    const difference = { ...found, step: evidenceFrom + found.step }
    stage.notes.add(`${node}: ${describeDifference(difference, way.schedule)}`)
  }
  return differences.length > 0
}

/** The evidence of a repetition, as far as the schedule can be executed; undefined if that proves nothing. */
const evidenceAgain = async (stage: Stage, driver: Driver, way: WayThere): Promise<readonly Evidence[] | undefined> => {
  const { beganInPlace } = stage.execution
  driver.isRepeating = true
  try {
    // The bound of its last steps may not have applied to the first.
    driver.setDelayMsMax(Number.POSITIVE_INFINITY)
    driver.setSkewMsMax(Number.POSITIVE_INFINITY)
    await driver.follow(way)
  } catch (error) {
    if (error instanceof Unfaithful) return undefined
    if (!(error instanceof Diverged)) throw error
  } finally {
    driver.isRepeating = false
  }
  return stage.execution.beganInPlace === beganInPlace ? undefined : stage.execution.evidence
}
