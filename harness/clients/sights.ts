import type { Sight } from '../../checker/system.ts'
import type { ClientCall } from '../config.ts'

/** Names of what an execution may meet. */
export const sightOf = {
  call: (client: string) => `${client} called`,
  result: (client: string) => `${client} returned`,
  error: (client: string) => `${client} threw`,
  state: (node: string) => `state of ${node}`,
} as const

/** The results of one client's calls. */
export const callSights = (calls: readonly ClientCall[], client: string): Sight[] => {
  const ended = calls.filter(({ completedAt }) => completedAt !== undefined)
  const failed = ended.filter(({ error }) => error !== undefined)
  const sights = [
    { what: sightOf.call(client), count: calls.length },
    { what: sightOf.result(client), count: ended.length - failed.length },
    { what: sightOf.error(client), count: failed.length, ...(failed[0] && { example: failed[0].error! }) },
  ]
  return sights.filter(({ count }) => count > 0)
}
