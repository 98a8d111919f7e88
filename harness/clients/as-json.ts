import { messageOf, shown } from '../../checker/show.ts'
import { ConfigError } from '../config.ts'

/**
 * The text of a value that came from a configuration: properties, fingerprints and traces have it as JSON.
 *
 * @param what gave it, for a message: `clients.put`
 * @throws ConfigError where JSON cannot hold it
 */
export const toJson = (what: string, value: unknown): string | undefined => {
  const refuse = (why: string) =>
    new ConfigError([`${what}: expected a value that JSON can hold, found ${shown(value)}${why}`])
  try {
    const text = JSON.stringify(value)
    if (text === undefined && value !== undefined) throw refuse('')
    return text
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const [why] = messageOf(error).split('\n', 1)
    throw refuse(` (${why})`)
  }
}

/** A copy that nobody can change any more, as a trace has it. */
export const asJson = (what: string, value: unknown): unknown => {
  const text = toJson(what, value)
  return text === undefined ? undefined : JSON.parse(text)
}
