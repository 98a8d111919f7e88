import { TopologyError } from '../error.ts'

/** Throws a `TopologyError` if a kind of topology cannot have this many nodes. */
export const checkCount = (kind: string, count: number, min: number, max: number): void => {
  if (count >= min && count <= max) return
  throw new TopologyError(`nodes: expected from ${min} to ${max} for ${kind}, found ${count}`)
}
