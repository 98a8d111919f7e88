import { counted } from '../../checker/system/brief.ts'
import type { Trace } from '../../checker/trace/trace.ts'
import { describePrediction, type RecordedVerdict } from '../../checker/verdict/verdict.ts'
import { describeCall } from './calls.ts'
import { type Comparison, compare } from './comparison.ts'
import type { ShownExecution } from './execution.ts'

/** An execution, and the closest live execution to compare it with, if there is one. */
export interface Story {
  readonly main: ShownExecution
  /** The closest live execution. */
  readonly live: ShownExecution | undefined
  /** Where the live execution diverges from the main one. */
  readonly comparison: Comparison | undefined
  readonly verdict: RecordedVerdict | undefined
  /** What was predicted from its states, in words. */
  readonly predictions: ReturnType<typeof predictionsIn>
  /** The step to look at first: the critical transition, else the violating step, else the last. */
  readonly decisive: number
}

export const storyOf = (main: ShownExecution, live: ShownExecution | undefined): Story => {
  const verdict = verdictOf(main.trace)
  const decisive = Math.min(verdict?.criticalTransition?.step ?? main.end, main.end)
  const comparison = live && compare(main, live)
  return { main, live, comparison, verdict, predictions: predictionsIn(main.trace), decisive }
}

/** The search's verdict on the execution, if the trace ends with one. */
export const verdictOf = ({ end }: Trace): RecordedVerdict | undefined => {
  const verdict = end?.verdict as RecordedVerdict | null | undefined
  return typeof verdict?.message === 'string' ? verdict : undefined
}

/** What was predicted from states of a run, in words. */
export const predictionsIn = (trace: Trace): readonly { readonly step: number; readonly said: string }[] =>
  (verdictOf(trace)?.predicted ?? []).map(prediction => ({
    step: prediction.step,
    said: `${prediction.what} is predicted ${describePrediction(prediction)}`,
  }))

/** A short remark on a step. Lists of badges have the most important first. */
export interface Badge {
  readonly tone: 'bad' | 'good' | 'plain'
  readonly text: string
}

/** Badges for a step of the main execution. */
export const badgesOf = (story: Story, step: number): Badge[] => {
  const { main, verdict, decisive, comparison } = story
  const badges: Badge[] = []
  const add = (tone: Badge['tone'], text: string) => void badges.push({ tone, text })
  if (verdict?.criticalTransition) {
    const { step: critical, case: kind } = verdict.criticalTransition
    if (step === critical - 1) add('good', 'last state that can recover')
    if (step === critical) add('bad', kind === 'C1' ? 'critical transition: dead from here' : 'not seen to recover')
  } else if (verdict?.verdict === 'violated' && step === decisive)
    add('bad', verdict.property ? `violates ${verdict.property}` : `${verdict.kind}`)
  for (const { kind, node } of main.steps[step]!.findings) add('bad', `${kind} of ${node}`)
  for (const prediction of story.predictions) if (prediction.step === step) add('plain', prediction.said)
  if (step === comparison?.firstDifference && step !== decisive) add('plain', 'first difference')
  const point = verdict?.curve?.points.find(point => point.step === step)
  if (point) add('plain', curveSaid(verdict!, point.bad))
  return [...badges, ...valueBadges(story, main, step), ...answerBadges(main, step)]
}

/** `12 of 20 walks from here do not recover` */
const curveSaid = ({ curve, kind }: RecordedVerdict, bad: number): string =>
  `${bad} of ${counted(curve!.walks, 'walk')} from here ${kind === 'liveness' ? 'do not recover' : 'violate it too'}`

/** Badges for a step of the live execution. */
export const liveBadgesOf = (story: Story, step: number): Badge[] => {
  const badges: Badge[] = []
  if (step === story.comparison?.firstDifference) badges.push({ tone: 'plain', text: 'first difference' })
  return [...badges, ...valueBadges(story, story.live!, step), ...answerBadges(story.live!, step)]
}

/** Badges for calls that returned or threw in a step. */
const answerBadges = ({ calls }: ShownExecution, step: number): Badge[] =>
  calls
    .filter(({ to }) => to === step)
    .map(call => ({ tone: call.error === undefined ? 'plain' : 'bad', text: shortened(describeCall(call)) }))

const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 59)}…` : text)

/** Badges where the violated property changes its value. */
const valueBadges = ({ verdict, decisive }: Story, execution: ShownExecution, step: number): Badge[] => {
  const property = verdict?.property
  const changed = execution.steps[step]!.properties.find(({ name }) => name === property)
  if (!changed) return []
  const isSaid = verdict?.kind === 'safety' && step === decisive
  if (changed.holds) return [{ tone: 'good', text: `${property} holds` }]
  return isSaid ? [] : [{ tone: 'plain', text: `${property} does not hold` }]
}
