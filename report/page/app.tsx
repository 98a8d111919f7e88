import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { isFiltering, matcher, noFilter, type StepFilter } from '../model/filter.ts'
import { pastOf } from '../model/past.ts'
import type { Story } from '../model/story.ts'
import { ClientRows } from './clients.tsx'
import { Controlled, useControl } from './control.tsx'
import { Details } from './details.tsx'
import { Facts } from './facts.tsx'
import { Graph } from './graph.tsx'
import { useKeyboard } from './keyboard.ts'
import { Names } from './names.tsx'
import { usePrinting } from './printing.ts'
import type { ServedProcesses } from './processes.ts'
import { executionOn, hashOf, type Selection, selectionFrom, within } from './selection.ts'
import { StorySummary } from './summary.tsx'
import { EventLine } from './timeline.tsx'
import { Toolbar, zooms } from './toolbar.tsx'

/**
 * Executions with at most this many steps open with high rows, which show what changed. With more, the first screen
 * would show only a small part.
 */
const roomyMax = 60

interface AppProps {
  readonly story: Story
  /** Path of the trace. */
  readonly path: string | undefined
  /** The processes behind a page that is served. */
  readonly processes: ServedProcesses | undefined
}

export const App = ({ story: first, path, processes }: AppProps) => {
  const [story, setStory] = useState(first)
  const [selection, setSelection] = useState<Selection>(() => selectionFrom(location.hash, story))
  const [filter, setFilter] = useState<StepFilter>(noFilter)
  const [pastOnly, setPastOnly] = useState<Selection | undefined>(undefined)
  const [zoom, setZoom] = useState(() => (story.main.end <= roomyMax ? 5 : 4))
  const [wantsLive, setWantsLive] = useState(true)
  const isPrinting = usePrinting()
  const isComparing = story.live !== undefined && wantsLive && pastOnly === undefined

  const select = useCallback(
    (wanted: Selection) => {
      const next = within(story, wanted)
      setSelection(next)
      history.replaceState(null, '', hashOf(next))
    },
    [story],
  )
  const steps = useMemo(() => shownSteps(story, filter, pastOnly, isComparing), [story, filter, pastOnly, isComparing])
  const control = useControl(processes, (branch, step) => {
    if (branch) setStory(branch)
    setSelection({ side: 'main', step })
    history.replaceState(null, '', hashOf({ side: 'main', step }))
  })
  const changeZoom = (by: number) => setZoom(now => Math.max(0, Math.min(now + by, zooms.length - 1)))
  useKeyboard({ story, steps, selection, select, isComparing, changeZoom })
  useEffect(() => {
    if (!isComparing && pastOnly === undefined && selection.side === 'live') select({ ...selection, side: 'main' })
  }, [isComparing, pastOnly, selection, select])

  return (
    <Controlled.Provider value={control}>
      <Names.Provider value={namesOf(story)}>
        <StorySummary story={story} select={select} />
        <ClientRows story={story} selection={selection} select={select} />
        <main>
          <div class="left">
            <EventLine story={story} selection={selection} select={select} />
            <Toolbar
              {...{ story, filter, setFilter, zoom, changeZoom, isComparing, setWantsLive }}
              pastOnly={pastOnly}
              setPastOnly={isOn => setPastOnly(isOn ? selection : undefined)}
              shown={steps.length}
            />
            <Graph {...{ story, steps, selection, select, isComparing, isPrinting }} rowHeight={zooms[zoom]!} />
          </div>
          <Details story={story} selection={selection} select={select} />
        </main>
        <Facts story={story} path={path} />
      </Names.Provider>
    </Controlled.Provider>
  )
}

/** Indices of the steps that have a row: those that the filter lets pass in at least one execution shown. */
const shownSteps = (
  story: Story,
  filter: StepFilter,
  pastOnly: Selection | undefined,
  isComparing: boolean,
): number[] => {
  const { main, live } = story
  const end = Math.max(main.end, isComparing ? live!.end : 0)
  const all = Array.from({ length: end + 1 }, (_, step) => step)
  if (pastOnly) {
    const execution = executionOn(story, pastOnly.side)
    const past = pastOf(execution, pastOnly.step)
    const matches = matcher(filter)
    return all.filter(step => past.has(step) && matches(execution, step))
  }
  if (!isFiltering(filter)) return all
  const matches = matcher(filter)
  return all.filter(
    step => (step <= main.end && matches(main, step)) || (isComparing && step <= live!.end && matches(live!, step)),
  )
}

const namesOf = ({ main }: Story): ReadonlyMap<string, string> =>
  new Map(main.trace.header.nodes.filter(({ address }) => address !== '').map(({ name, address }) => [address, name]))
