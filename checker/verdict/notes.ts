import type { SearchCoverage } from '../searches/search.ts'

/** With fewer executions in a second, the machine was busy or the service is very slow. Both are worth a note. */
const executionsPerSecondMin = 0.5
/** A check shorter than this may simply have had a short budget. */
const secondsMin = 10

/** A note on what a check could not do because executions took so long; nothing if it was fast enough. */
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
