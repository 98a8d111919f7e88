import type { SearchCoverage } from '../searches/search.ts'

/** A check that does fewer executions than this a second was held up, or its service is very slow: both are worth a word. */
const executionsPerSecondMin = 0.5
/** Below this many seconds a check may be short because it was asked to be. */
const secondsMin = 10

/** What a check could not do because an execution took so long, in a line; nothing where it was fast enough. */
export const noteStarved = (
  searches: readonly SearchCoverage[],
  { executions }: { readonly executions: number },
  seconds: number,
): string[] => {
  if (seconds < secondsMin || executions >= executionsPerSecondMin * seconds) return []
  const idle = searches.filter(search => search.executions === 0).map(({ name }) => name)
  const left = idle.length === 0 ? '' : `; these searches had no turn: ${idle.join(', ')}`
  return [
    `only ${executions} execution${executions === 1 ? ' was' : 's were'} done in ${Math.round(seconds)} s: the service is ` +
      `slow or something else used its CPU${left}`,
  ]
}
