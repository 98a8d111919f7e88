import { replay } from '../../checker/cells/replay.ts'
import type { Violation } from '../../checker/cells/violation.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import type { Cluster } from '../../harness/cluster.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import type { RunSummary } from './summary.ts'

/** The result of a run. */
export type Conclusion = Pick<RunSummary, 'verdict' | 'property' | 'kind' | 'message'>

/** A violation counts only if the same steps, executed again from the start, violate again. */
export const confirmed = async (
  violation: Violation,
  labels: readonly string[],
  cluster: Cluster,
  { properties }: ResolvedSystem,
): Promise<Conclusion> => {
  const { step, message } = violation
  const kind = violation.kind as RunSummary['kind']
  const property = violation.property ?? null
  const again = await replay(cluster, properties, labels.slice(0, step)).catch(error => {
    if (error instanceof BudgetSpent) return undefined
    throw error
  })
  if (again === undefined)
    return { verdict: 'undetermined', property, kind, message: `${message}; interrupted before it was executed again` }
  if (again.violation?.kind === violation.kind && (again.violation.property ?? null) === property)
    return { verdict: 'violated', property, kind, message }
  const why = again.diverged ? again.diverged.message : 'executed again, the same steps did not violate it'
  return { verdict: 'undetermined', property, kind, message: `${message}; ${why}` }
}
