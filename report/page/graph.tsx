import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ShownExecution } from '../model/execution.ts'
import { badgesOf, liveBadgesOf, type Story } from '../model/story.ts'
import { lanesOf } from './lanes.ts'
import { Pane, type Window } from './pane.tsx'
import type { Selection } from './selection.ts'

interface GraphProps {
  readonly story: Story
  /** Indices of the steps that have a row, ascending. */
  readonly steps: readonly number[]
  readonly selection: Selection
  readonly select: (selection: Selection) => void
  readonly rowHeight: number
  readonly isComparing: boolean
  readonly isPrinting: boolean
}

/** Width of all lanes together, in pixels. The rest of the window is for the text of the steps. */
const wholeWidth = () => Math.min(520, innerWidth / 2)
const comparedWidth = 160
/** The same where names need more. */
const wholeRoom = () => innerWidth / 2
const comparedRoom = () => Math.max(220, innerWidth / 6)
const lanesBeside = (execution: ShownExecution) => lanesOf(execution, comparedWidth, comparedRoom())

/** Rows rendered beyond each edge of the window, so that scrolling shows no gaps. */
const overscan = 8
/** Rows printed, around the decisive step. Nobody reads more on paper. */
const printedMax = 1200

/**
 * The event graph: nodes as columns, steps downwards, and the live execution beside it. Only visible rows are rendered.
 */
export const Graph = (props: GraphProps) => {
  const { story, steps, selection, select, rowHeight, isComparing, isPrinting } = props
  const scroller = useRef<HTMLDivElement>(null)
  const seen = useSeen(scroller)
  const { main, live } = story
  const place = rowOf(steps, selection.step)
  useScrolledIntoView(scroller, place * rowHeight, rowHeight, selection)

  const lanes = useMemo(
    () => (isComparing ? lanesBeside(main) : lanesOf(main, wholeWidth(), wholeRoom())),
    [main, isComparing],
  )
  const liveLanes = useMemo(() => live && lanesBeside(live), [live])
  const extent = isPrinting
    ? printedWindow(steps.length, rowOf(steps, story.decisive))
    : windowOf(seen, rowHeight, steps.length)
  const shared = { steps, rowHeight, window: extent, select }
  return (
    <div class="scroller" ref={scroller}>
      {steps.length === 0 && <p class="nothing">No step matches.</p>}
      <div class="panes" style={{ height: steps.length === 0 ? 0 : undefined }}>
        <Pane
          {...shared}
          side="main"
          execution={main}
          lanes={lanes}
          label="Steps of the execution"
          heading={
            isComparing ? (story.verdict?.verdict === 'violated' ? 'this execution, which dies' : 'this execution') : ''
          }
          badges={step => badgesOf(story, step)}
          selected={selection.side === 'main' ? selection.step : undefined}
          boundary={story.verdict?.criticalTransition?.step}
        />
        {isComparing && live && liveLanes && (
          <Pane
            {...shared}
            side="live"
            execution={live}
            lanes={liveLanes}
            label="Steps of the closest live execution"
            heading="the closest live execution"
            badges={step => liveBadgesOf(story, step)}
            selected={selection.side === 'live' ? selection.step : undefined}
            boundary={undefined}
            commonUpTo={story.comparison?.common}
          />
        )}
      </div>
    </div>
  )
}

/** The row of a step, or of the next step that is shown. */
const rowOf = (steps: readonly number[], step: number): number => {
  const row = steps.findIndex(each => each >= step)
  return row === -1 ? Math.max(0, steps.length - 1) : row
}

interface Seen {
  readonly top: number
  readonly height: number
}

const windowOf = ({ top, height }: Seen, rowHeight: number, rows: number): Window => ({
  first: Math.max(0, Math.floor(top / rowHeight) - overscan),
  end: Math.min(rows, Math.ceil((top + height) / rowHeight) + overscan),
})

const printedWindow = (rows: number, decisive: number): Window => {
  const first = Math.max(0, Math.min(decisive - printedMax / 2, rows - printedMax))
  return { first, end: Math.min(rows, first + printedMax) }
}

/** Which part of the graph is visible. */
const useSeen = (scroller: { readonly current: HTMLDivElement | null }): Seen => {
  const [seen, setSeen] = useState<Seen>({ top: 0, height: 800 })
  useEffect(() => {
    const element = scroller.current!
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller])
  return seen
}

/** Scrolls until the selected row is visible, with some rows around it. */
const useScrolledIntoView = (
  scroller: { readonly current: HTMLDivElement | null },
  top: number,
  rowHeight: number,
  selection: Selection,
) => {
  useLayoutEffect(() => {
    const element = scroller.current!
    const margin = 3 * rowHeight
    const header = element.querySelector('.lanes')?.clientHeight ?? 0
    if (top - margin < element.scrollTop) element.scrollTop = top - margin
    else if (top + rowHeight + margin > element.scrollTop + element.clientHeight - header)
      element.scrollTop = top + rowHeight + margin - element.clientHeight + header
  }, [selection.side, selection.step, rowHeight])
}
