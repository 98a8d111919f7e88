import { useMemo } from 'preact/hooks'
import { isFault, isRepair } from '../../checker/happening/kinds.ts'
import type { ChoiceKind } from '../../checker/system/system.ts'
import type { Curve } from '../../checker/verdict/verdict.ts'
import type { ShownExecution } from '../model/execution.ts'
import { notableIn } from '../model/notable.ts'
import type { Story } from '../model/story.ts'
import { Glyph } from './glyph.tsx'
import { executionOn, type Selection } from './selection.ts'

interface TimelineProps {
  readonly story: Story
  readonly selection: Selection
  readonly select: (selection: Selection) => void
}

const width = 1000
const height = 30

/** The whole execution in one line: the events, where the property holds, and the selected step. */
export const EventLine = ({ story, selection, select }: TimelineProps) => {
  const execution = executionOn(story, selection.side)
  const property = story.verdict?.property ?? undefined
  const marks = useMemo(() => marksOf(execution, property), [execution, property])
  const x = (step: number) => xOf(execution, step)
  const curve = selection.side === 'main' ? story.verdict?.curve : undefined
  const label = execution.steps[selection.step]?.choice?.label ?? 'start'
  return (
    <div class="timeline">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="holds" d={marks.holds} />
        <path class="tick deliver" d={marks.deliver} />
        <path class="tick timer" d={marks.timer} />
        <path class="tick client" d={marks.client} />
        <path class="tick fault" d={marks.fault} />
        {curve && <path class="curve" d={pathOf(curve, x)} />}
        {selection.side === 'main' && <path class="decisive" d={`M${x(story.decisive)} 0V${height}`} />}
      </svg>
      <Notable execution={execution} select={step => select({ ...selection, step })} />
      <input
        type="range"
        min={0}
        max={execution.end}
        value={selection.step}
        aria-label="Step"
        aria-valuetext={`step ${selection.step} of ${execution.end}: ${label}`}
        onInput={({ currentTarget }) => select({ ...selection, step: Number(currentTarget.value) })}
      />
    </div>
  )
}

/** The share of walks from each state that end badly: none at the bottom, all at the top. */
const pathOf = ({ walks, points }: Curve, x: (step: number) => number): string =>
  points
    .map(({ step, bad }, index) => `${index === 0 ? 'M' : 'L'}${x(step)} ${1 + (1 - bad / walks) * (height - 2)}`)
    .join('')

/** Predictions and what steering did, each with its mark. */
const Notable = ({ execution, select }: { readonly execution: ShownExecution; select(step: number): void }) => {
  const notable = useMemo(() => notableIn(execution), [execution])
  if (notable.length === 0) return null
  return (
    <ul class="notable" aria-label="Predictions and steering">
      {notable.map(({ kind, step, said }) => (
        <li key={`${kind} ${step}`} style={{ left: `${(100 * xOf(execution, step)) / width}%` }}>
          <button type="button" title={said} aria-label={`step ${step}: ${said}`} onClick={() => select(step)}>
            <svg width="16" height="16" aria-hidden="true">
              <Glyph kind={kind} x={8} y={8} />
            </svg>
          </button>
        </li>
      ))}
    </ul>
  )
}

type Row = 'deliver' | 'timer' | 'client' | 'fault'

const rows: Readonly<Record<Row, readonly [number, number]>> = {
  deliver: [20, 26],
  timer: [14, 20],
  client: [8, 14],
  fault: [0, 10],
}

/** Undefined for a kind of step that has a mark of its own. */
const rowOf = (kind: ChoiceKind): Row | undefined => {
  if (kind === 'steer') return undefined
  if (kind === 'timer' || kind === 'client') return kind
  return isFault(kind) || isRepair(kind) ? 'fault' : 'deliver'
}

const xOf = ({ end }: ShownExecution, step: number) => Math.round((step / Math.max(1, end)) * width)

/**
 * One SVG path for each kind. Steps that fall on the same pixel are drawn once, so the size does not grow with the
 * execution.
 */
const marksOf = (execution: ShownExecution, property: string | undefined) => {
  const marks: Record<Row | 'holds', Set<string>> = {
    ...{ deliver: new Set(), timer: new Set(), client: new Set(), fault: new Set(), holds: new Set() },
  }
  for (const { index, choice } of execution.steps) {
    const x = xOf(execution, index)
    if (choice) {
      const row = rowOf(choice.kind)
      if (row) marks[row].add(`M${x} ${rows[row][0]}V${rows[row][1]}`)
    }
    if (property !== undefined && execution.holdsAfter(property, index))
      marks.holds.add(`M${x} ${height - 2}H${Math.max(x + 1, xOf(execution, index + 1))}`)
  }
  const path = (row: Row | 'holds') => [...marks[row]].join('')
  return {
    deliver: path('deliver'),
    timer: path('timer'),
    client: path('client'),
    fault: path('fault'),
    holds: path('holds'),
  }
}
