import { UsageError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import type { Properties } from './executor.ts'

/**
 * All properties, or only the named one.
 *
 * @throws UsageError if there is none with this name
 */
export const select = <State>(properties: Properties<State>, name: string | undefined): Properties<State> => {
  if (name === undefined) return properties
  if (Object.hasOwn(properties, name)) return { [name]: properties[name]! }
  throw new UsageError(`no property "${name}": ${nearest(name, Object.keys(properties))}`)
}
