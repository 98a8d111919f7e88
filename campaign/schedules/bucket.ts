import { createHash } from 'node:crypto'
import type { Schedule } from './schedule.ts'
import { kindOfShape } from './shape.ts'

/**
 * Number of final steps that identify a bug. With more, other schedules to the same bug would count as other bugs; with
 * fewer, different bugs would count as one.
 */
const lastSteps = 3
const digits = 8

/**
 * Names a bug by what is violated and how its schedules end: the critical transition, or else the last step, and a few
 * steps before it, without numbers. Nodes are renamed by their order there, so that the same bug in other nodes has the
 * same name.
 */
export const bucketOf = ({
  property,
  kind,
  labels,
  criticalTransition,
}: Pick<Schedule, 'property' | 'kind'> & {
  readonly labels: readonly string[]
  readonly criticalTransition: { readonly label: string } | null
}): string => {
  const last = [...labels.slice(-lastSteps), ...(criticalTransition ? [criticalTransition.label] : [])]
  const rename = namesByOrder()
  const shape = last.map(label => kindOfShape(label, rename))
  return createHash('sha256')
    .update(JSON.stringify([property, kind, shape]))
    .digest('hex')
    .slice(0, digits)
}

/** Gives nodes names by the order in which they are asked for. */
const namesByOrder = (): ((node: string) => string) => {
  const names = new Map<string, string>()
  return node => {
    const known = names.get(node) ?? `node ${names.size + 1}`
    names.set(node, known)
    return known
  }
}
