import { type Coverage, describeCoverage, type Verdict } from './verdict.ts'

/**
 * What several searches of one system came to together. What one found is what was found: a violation before a doubt,
 * a doubt before nothing. Their counts are added, so that a state which two of them saw counts twice.
 */
export const mergeVerdicts = (verdicts: readonly Verdict[]): Verdict => {
  const sum = (what: (one: Verdict) => number) => verdicts.reduce((total, one) => total + what(one), 0)
  // One that had no time for a single execution has nothing to say beside others that had.
  const telling = verdicts.filter(({ coverage }) => coverage.completed > 0)
  const found = (['violated', 'undetermined', 'held'] as const)
    .map(wanted => (telling.length > 0 ? telling : verdicts).find(({ verdict }) => verdict === wanted))
    .find(one => one !== undefined)!
  const seconds = Math.max(...verdicts.map(one => one.seconds))
  const steps = sum(one => one.steps)
  const merged: Verdict = {
    ...found,
    executions: sum(one => one.executions),
    steps,
    states: sum(one => one.states),
    seconds,
    stepsPerSecond: Math.round(steps / seconds),
    depth: Math.max(...verdicts.map(one => one.depth)),
    coverage: mergeCoverage(verdicts.map(({ coverage }) => coverage)),
    notRepeated: verdicts.flatMap(({ notRepeated }) => notRepeated),
  }
  return merged.verdict === 'held' ? { ...merged, message: describeCoverage(merged) } : merged
}

/** The bounded search is done by one of them. */
const mergeCoverage = (all: readonly Coverage[]): Coverage => {
  const deepest = all.reduce((one, other) => (other.levels.length > one.levels.length ? other : one))
  return {
    levels: deepest.levels,
    pruned: deepest.pruned,
    exhausted: all.some(({ exhausted }) => exhausted),
    completed: all.reduce((total, { completed }) => total + completed, 0),
    walks: all.reduce((total, { walks }) => total + walks, 0),
    stepsToLive: Math.max(...all.map(({ stepsToLive }) => stepsToLive)),
    walksToLive: addLists(all.map(({ walksToLive }) => walksToLive)),
    transient: all.reduce((total, { transient }) => total + transient, 0),
    unfaithful: all.reduce((total, { unfaithful }) => total + unfaithful, 0),
  }
}

const addLists = (lists: readonly (readonly number[])[]): number[] =>
  Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, index) =>
    lists.reduce((total, list) => total + (list[index] ?? 0), 0),
  )
