/** Steps one after the other with the same label, counted from 1. */
export interface EqualSteps {
  readonly label: string
  readonly from: number
  readonly to: number
}

/** Of so many the eye sees at once that they are the same. */
const foldedMin = 3

/** A schedule with the same step three times or more in a row as one run; every other step is a run of its own. */
export const runsOf = (schedule: readonly string[]): readonly EqualSteps[] => {
  const runs: EqualSteps[] = []
  for (let from = 1; from <= schedule.length; ) {
    const label = schedule[from - 1]!
    let to = from
    while (schedule[to] === label) to++
    if (to - from + 1 < foldedMin) to = from
    runs.push({ label, from, to })
    from = to + 1
  }
  return runs
}
