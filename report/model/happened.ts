import { isFault, kinds } from '../../checker/happening/kinds.ts'
import { shortened } from '../../checker/system/brief.ts'
import { meaningIn, readLabel } from '../../checker/system/labels.ts'
import type { Overtaking, RecordedVerdict } from '../../checker/verdict/verdict.ts'

/** What a sentence about a finding needs of a verdict. A run of `emulate` has no schedule that was shrunk. */
export type FoundVerdict = Pick<RecordedVerdict, 'property' | 'kind' | 'overtakings' | 'curve'> &
  Partial<Pick<RecordedVerdict, 'schedule'>>

/** One thing that the finding depends on. */
interface Cause {
  /** Of the schedule, counted from 1. */
  readonly step: number
  readonly said: string
}

/** More in one sentence are not read. */
const causesMax = 3
const overtakingsMax = 2

/**
 * What happened, in one sentence for somebody who does not know the tool: which message overtook which, which inputs came
 * together, what failed. A shrunk schedule needs each of them. `undefined` if that is not known.
 */
export const happenedIn = (told: FoundVerdict): string | undefined => {
  const overtakings = mostDecisive(told)
  const causes = [...overtakings.slice(0, overtakingsMax).map(overtakingSaid), ...failuresIn(told), ...meetingsIn(told)]
  if (causes.length === 0)
    return (
      told.overtakings &&
      'no message overtakes another, and the check makes nothing fail: the steps are in the order in which each became possible'
    )
  const inOrder = causes.slice(0, causesMax).sort((one, other) => one.step - other.step)
  const more = causes.length - inOrder.length
  return `${inOrder.map(({ said }) => said).join('; ')}${more > 0 ? `; and ${more} more of these` : ''}`
}

/**
 * The step where the ways part, and what would have become of the other order; `undefined` if none is known. It is the
 * overtaking with which the curve rises most, because a violation may need several.
 */
export const waysPart = (told: FoundVerdict): string | undefined => {
  const [first] = mostDecisive(told)
  if (!first) return undefined
  const { property, kind } = told
  const end = kind === 'liveness' ? `${property} can hold again` : `${property ?? `the ${kind}`} is not violated`
  return `the ways part at step ${first.step}, ${first.label}: with ${first.overtaken} delivered before it, ${end}`
}

/** Overtakings of other messages than ones with the same text, those first with which the share of bad walks rises most. */
const mostDecisive = ({ overtakings = [], curve }: FoundVerdict): readonly Overtaking[] => {
  const badAfter = (step: number) => curve?.points.findLast(point => point.step <= step)?.bad ?? 0
  const rise = ({ step }: Overtaking) => badAfter(step) - badAfter(step - 1)
  const isTold = ({ label, overtaken }: Overtaking) => inputSaid(label) !== inputSaid(overtaken)
  return overtakings.filter(isTold).sort((one, other) => rise(other) - rise(one) || other.step - one.step)
}

const failuresIn = ({ schedule = [] }: FoundVerdict): Cause[] =>
  schedule.flatMap((label, place) => {
    const { kind } = readLabel(label)
    return kind !== undefined && isFault(kind)
      ? [{ step: place + 1, said: `${kinds[kind].happens} (step ${place + 1}, ${shown(label)})` }]
      : []
  })

const meetingsIn = ({ schedule = [] }: FoundVerdict): Cause[] =>
  schedule.flatMap((label, place) => {
    const { kind, node, joins = [] } = readLabel(label)
    if (kind !== 'overlap') return []
    const parts = label.slice('overlap '.length).split(' & ')
    const inputs = parts.length === joins.length ? parts.map(inputSaid).join(' and ') : shown(label)
    const said =
      node === undefined
        ? `${inputs} begin at once, and each may be answered in the middle of the other`
        : `${inputs} enter ${node} together, before it has dealt with either`
    return [{ step: place + 1, said: `${said} (step ${place + 1})` }]
  })

const overtakingSaid = ({ step, label, overtaken, since, delivered }: Overtaking): Cause => {
  const { node } = readLabel(overtaken)
  const sent = since === 0 ? 'sent in the start' : `sent in step ${since}`
  const came = delivered === null ? 'it has not arrived at the end' : `it arrives only in step ${delivered}`
  const said =
    readLabel(label).kind === 'timer'
      ? `${inputSaid(label)} fires before ${inputSaid(overtaken)} reaches ${node} (step ${step})`
      : `${inputSaid(label)} overtakes ${inputSaid(overtaken)} on the way to ${node} (step ${step})`
  return { step, said: `${said}: ${sent}, ${came}` }
}

/** An input in words: `n1’s "vote 3"`, `n2’s timer of +150ms`. */
const inputSaid = (label: string): string => {
  const { kind, node, from } = readLabel(label)
  if (kind === 'timer') return `${node}’s timer${label.replace(/^\S+ timer/, '').replace(' +', ' of ')}`
  if (from === undefined) return shown(label)
  const meaning = meaningIn(label)
  const [, event, port] = /^(open|accept|close|abort|refuse|end)\b ?(.*)$/.exec(meaning) ?? []
  const said = event === undefined ? `"${shown(meaning)}"` : `${eventWords[event] ?? event}${port ? ` (${port})` : ''}`
  return `${from}’s ${said}`
}

const eventWords: Readonly<Record<string, string>> = {
  open: 'request for a connection',
  accept: 'acceptance of a connection',
  close: 'end of a connection',
  end: 'end of a connection',
  abort: 'reset of a connection',
  refuse: 'refusal of a connection',
}

/** A step in words, for somebody who does not know the tool. */
export const stepSaid = (label: string): string => {
  const { kind, node, to } = readLabel(label)
  if (kind === 'timer') return `${inputSaid(label)} fires`
  if (kind === 'deliver' && to !== undefined) return `${inputSaid(label)} reaches ${to}`
  if (kind === 'client') return `${label.replace(/^client /, '')} begins a call`
  if (kind === 'overlap') return `two inputs enter ${node} together: ${shown(label.slice('overlap '.length))}`
  return kind === undefined ? shown(label) : `${kinds[kind].happens}: ${shown(label)}`
}

const shown = (text: string): string => shortened(text, 80)
