import { useMemo } from 'preact/hooks'
import { type Bar, barsOf } from '../model/bars.ts'
import type { Story } from '../model/story.ts'
import { StepLink } from './links.tsx'
import { executionOn, type Selection } from './selection.ts'

interface ClientsProps {
  readonly story: Story
  readonly selection: Selection
  readonly select: (selection: Selection) => void
}

/**
 * At most this many moments have a column. If there are more, those around a contradiction are shown, or else the last
 * ones. More columns would be too narrow to read.
 */
const columnsMax = 60

/** What clients saw: a row for each client, with a bar from each invocation to its return. */
export const ClientRows = ({ story, selection, select }: ClientsProps) => {
  const { side, step } = selection
  const execution = executionOn(story, side)
  const message = side === 'main' ? story.verdict?.message : undefined
  const rows = useMemo(() => barsOf(execution, message), [execution, message])
  const all = [...rows.values()].flat()
  if (all.length === 0) return null
  const { moments, isCut } = momentsOf(all, execution.end)
  const [first, last] = [moments[0]!, moments.at(-1)!]
  const isShown = ({ from, to }: Bar) => from <= last && (to ?? Infinity) >= first
  const columnOf = (moment: number) => 2 + moments.findIndex(each => each >= moment)
  const now = moments.findLast(moment => moment <= step)
  const contradict = all.some(({ contradicts }) => contradicts)
  return (
    <section class="clients" aria-label="What clients saw">
      <h2>
        What clients saw
        {contradict && <span class="hint"> those in red contradict each other</span>}
        {isCut && <span class="hint"> a part of it: all is among the steps below</span>}
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must be able to focus it */}
      <section class="bars" aria-label="Calls, from invocation to return" tabIndex={0}>
        <div
          class="bar-grid"
          style={{ gridTemplateColumns: `max-content repeat(${moments.length}, minmax(64px, 1fr))` }}
        >
          <span class="corner">step</span>
          {moments.map((moment, index) => (
            <span
              key={moment}
              class={moment === now ? 'moment now' : 'moment'}
              style={{ gridColumn: index + 2, gridRow: 1 }}
            >
              <StepLink side={side} step={moment} select={select}>
                {moment}
              </StepLink>
            </span>
          ))}
          {[...rows]
            .flatMap(([who, bars]) => rowsOf(bars.filter(isShown)).map(row => ({ who, row })))
            .map(({ who, row }, index, lines) => (
              <Row
                key={`${who} ${row[0]!.from}`}
                {...{ who, row, side, select, columnOf, last: moments.length + 1 }}
                line={index + 2}
                isFirst={lines[index - 1]?.who !== who}
              />
            ))}
        </div>
      </section>
    </section>
  )
}

interface RowProps extends Pick<ClientsProps, 'select'> {
  readonly who: string
  readonly row: readonly Bar[]
  readonly side: Selection['side']
  readonly line: number
  readonly isFirst: boolean
  readonly columnOf: (moment: number) => number
  /** Index of the last column. */
  readonly last: number
}

const Row = ({ who, row, side, line, isFirst, columnOf, last, select }: RowProps) => (
  <>
    <span class="who" style={{ gridRow: line }}>
      {isFirst ? who : ''}
    </span>
    {row.map(({ from, to, text, outcome, contradicts }) => {
      const begin = Math.max(2, columnOf(from))
      const end = to === undefined || columnOf(to) < 2 ? last : columnOf(to)
      const when = to === undefined ? `from step ${from}, without an answer` : `from step ${from} to ${to}`
      return (
        <button
          key={`${from} ${text}`}
          type="button"
          class={`saw ${outcome}${contradicts ? ' contradicts' : ''}`}
          style={{ gridRow: line, gridColumn: `${begin} / ${end + 1}` }}
          title={`${who}, ${when}: ${text}`}
          aria-label={`${who}, ${when}: ${text}${contradicts ? ', contradicts' : ''}`}
          onClick={() => select({ side, step: to ?? from })}
        >
          {text}
        </button>
      )
    })}
  </>
)

/** The bars of one client on as few lines as possible. A client may have several calls at once. */
const rowsOf = (bars: readonly Bar[]): Bar[][] => {
  const rows: Bar[][] = []
  for (const bar of bars) {
    const free = rows.find(row => (row.at(-1)!.to ?? Infinity) < bar.from)
    if (free) free.push(bar)
    else rows.push([bar])
  }
  return rows
}

/** Steps in which a call begins or ends. */
const momentsOf = (bars: readonly Bar[], end: number) => {
  const all = [...new Set(bars.flatMap(({ from, to }) => [from, to ?? end]))].sort((one, other) => one - other)
  if (all.length <= columnsMax) return { moments: all, isCut: false }
  const decisive = bars.find(({ contradicts }) => contradicts)?.from ?? end
  const from = Math.max(0, Math.min(all.length - columnsMax, all.findIndex(moment => moment >= decisive) - 2))
  return { moments: all.slice(from, from + columnsMax), isCut: true }
}
