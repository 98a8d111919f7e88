import type { ShownExecution } from './execution.ts'
import { predictionsIn } from './story.ts'

/** Something in a run that a reader looks for. */
export interface Notable {
  readonly kind: 'prediction' | 'steer'
  readonly step: number
  readonly said: string
}

/** So many of each kind have a mark, at equal distances. More would cover each other. */
const most = 100

/** What was predicted in a run, and what steering did. */
export const notableIn = ({ trace, steps, end }: ShownExecution): readonly Notable[] => {
  const predicted = predictionsIn(trace).map(({ step, said }) => ({ kind: 'prediction', step, said }) as const)
  const steered = steps.flatMap(({ index, choice }) =>
    choice?.kind === 'steer' ? [{ kind: 'steer', step: index, said: choice.label } as const] : [],
  )
  return [...spread(predicted, end), ...spread(steered, end)]
}

/** The first of those that would be at one place. */
const spread = (all: readonly Notable[], end: number): readonly Notable[] => {
  const places = new Set<number>()
  return all.filter(({ step }) => {
    const place = Math.round((most * step) / Math.max(1, end))
    return !places.has(place) && places.add(place)
  })
}
