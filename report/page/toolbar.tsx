import type { ChoiceKind } from '../../checker/system/system.ts'
import type { StepFilter } from '../model/filter.ts'
import type { Story } from '../model/story.ts'
import { Legend } from './legend.tsx'
import type { Selection } from './selection.ts'

/** Row heights in pixels. The lowest ones leave no room for text. */
export const zooms = [4, 8, 14, 20, 26, 34, 44]
export const searchFieldId = 'search'

interface ToolbarProps {
  readonly story: Story
  readonly filter: StepFilter
  readonly setFilter: (filter: StepFilter) => void
  readonly zoom: number
  readonly changeZoom: (by: number) => void
  readonly pastOnly: Selection | undefined
  readonly setPastOnly: (isOn: boolean) => void
  readonly isComparing: boolean
  readonly setWantsLive: (wants: boolean) => void
  /** How many steps are shown. */
  readonly shown: number
}

export const Toolbar = (props: ToolbarProps) => {
  const { story, filter, setFilter, zoom, changeZoom, pastOnly, setPastOnly, isComparing, setWantsLive, shown } = props
  const { main, live } = story
  const kinds = [...new Set([main, live].flatMap(one => one?.steps.flatMap(({ choice }) => choice?.kind ?? []) ?? []))]
  return (
    <div class="toolbar" role="toolbar" aria-label="What is shown">
      <Select name="node" value={filter.node} values={main.nodes} choose={node => setFilter({ ...filter, node })} />
      <Select
        name="kind"
        value={filter.kind}
        values={kinds.sort()}
        choose={kind => setFilter({ ...filter, kind: kind as ChoiceKind | undefined })}
      />
      <input
        id={searchFieldId}
        type="search"
        aria-label="Text or regular expression"
        placeholder="text or regexp"
        value={filter.text}
        onInput={({ currentTarget }) => setFilter({ ...filter, text: currentTarget.value })}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
      <Toggle isOn={pastOnly !== undefined} set={setPastOnly}>
        {pastOnly ? `only what led to step ${pastOnly.step}` : 'only what led to it'}
      </Toggle>
      {live && !pastOnly && (
        <Toggle isOn={isComparing} set={setWantsLive}>
          closest live execution beside
        </Toggle>
      )}
      <span class="zoom">
        <button type="button" aria-label="Zoom out" disabled={zoom === 0} onClick={() => changeZoom(-1)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" disabled={zoom === zooms.length - 1} onClick={() => changeZoom(1)}>
          +
        </button>
      </span>
      <output class="count">{shown} rows</output>
      <Legend />
    </div>
  )
}

interface SelectProps {
  readonly name: string
  readonly value: string | undefined
  readonly values: readonly string[]
  readonly choose: (value: string | undefined) => void
}

const Select = ({ name, value, values, choose }: SelectProps) => (
  <label>
    {name}
    <select value={value ?? ''} onChange={({ currentTarget }) => choose(currentTarget.value || undefined)}>
      <option value="">all</option>
      {values.map(each => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  </label>
)

interface ToggleProps {
  readonly isOn: boolean
  readonly set: (isOn: boolean) => void
  readonly children: preact.ComponentChildren
}

const Toggle = ({ isOn, set, children }: ToggleProps) => (
  <label class="toggle">
    <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => set(currentTarget.checked)} />
    {children}
  </label>
)
