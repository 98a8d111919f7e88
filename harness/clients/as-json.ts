import { messageOf, shown } from '../../checker/system/show.ts'
import { ConfigError } from '../config/config.ts'

/**
 * The JSON text of a value from a configuration. Properties, fingerprints and traces use it.
 *
 * @param what where the value came from, for messages: `clients.put`
 *
 * @throws ConfigError if JSON cannot hold it
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

/** A frozen copy in the form in which a trace stores it. */
export const asJson = (what: string, value: unknown): unknown => {
  const text = toJson(what, value)
  return text === undefined ? undefined : JSON.parse(text)
}
