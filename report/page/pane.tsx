import { memo } from 'preact/compat'
import { isKindOfNetwork } from '../../checker/happening/kinds.ts'
import { shortly } from '../model/changes.ts'
import type { ShownExecution } from '../model/execution.ts'
import type { Badge } from '../model/story.ts'
import { Arrows } from './arrows.tsx'
import { Background } from './background.tsx'
import { Badges } from './badges.tsx'
import { Glyph } from './glyph.tsx'
import { clientsLane, type Lanes } from './lanes.ts'
import { Named } from './names.tsx'
import type { Selection, StorySide } from './selection.ts'

/** The rows that are rendered, from `first` up to but without `end`. */
export interface Window {
  readonly first: number
  readonly end: number
}

export interface PaneProps {
  readonly side: StorySide
  readonly execution: ShownExecution
  readonly lanes: Lanes
  readonly label: string
  /** Shown above the lanes. */
  readonly heading: string
  readonly steps: readonly number[]
  readonly rowHeight: number
  readonly window: Window
  readonly selected: number | undefined
  readonly select: (selection: Selection) => void
  readonly badges: (step: number) => readonly Badge[]
  /** The critical transition. A line is drawn before it. */
  readonly boundary: number | undefined
  /** Up to this step, the execution beside it is the same. */
  readonly commonUpTo?: number | undefined
}

/** Below this height, a row has no text. */
const textHeightMin = 14
/** Below this height, a row has a tick instead of a glyph. */
const glyphHeightMin = 8
/** From this height on, a row has a second line: badges, or else what changed. */
const highMin = 34
/** Width of the column of step numbers: as many digits as the last step has, and the time if there is one. */
const numberWidthOf = ({ end, tellsTime }: ShownExecution) => 22 + 9 * String(end).length + (tellsTime ? timeWidth : 0)
/** Width of a step's time: seconds with three decimals; a day has five digits before them. */
const timeWidth = 76
/** Below this height, a row has smaller text. */
const normalMin = 18

/** One execution: its lanes, the events on them, and the list of steps. */
export const Pane = (props: PaneProps) => {
  const { side, execution, lanes, label, steps, rowHeight, window, selected } = props
  const numberWidth = numberWidthOf(execution)
  const visible = steps.slice(window.first, window.end).filter(step => step <= execution.end)
  const top = window.first * rowHeight
  const y = (step: number) => yOf(steps, step, rowHeight) - top
  const height = visible.length * rowHeight
  const hasSelected = selected !== undefined && visible.includes(selected)
  return (
    <section class={`pane ${side}`} aria-label={label}>
      <LaneNames {...{ lanes, execution, numberWidth }} label={props.heading} />
      <div class="rows" style={{ height: (steps.filter(step => step <= execution.end).length + 1) * rowHeight }}>
        <div class="window" style={{ top }}>
          <svg
            class="graph"
            style={{ left: numberWidth }}
            width={lanes.width}
            height={height + rowHeight}
            aria-hidden="true"
            focusable="false"
          >
            <Background {...{ execution, lanes, visible, y, rowHeight, height }} />
            <Arrows {...{ execution, lanes, visible, y, rowHeight, selected }} />
            {rowHeight >= glyphHeightMin &&
              visible.map(step => <StepGlyph key={step} {...{ execution, lanes, step }} y={y(step)} />)}
          </svg>
          <div
            role="listbox"
            aria-label={label}
            tabIndex={0}
            aria-activedescendant={hasSelected ? optionId(side, selected) : undefined}
          >
            {visible.map((step, index) => (
              <Row
                key={step}
                {...props}
                {...{ step, numberWidth }}
                place={window.first + index + 1}
                isSelected={step === selected}
              />
            ))}
          </div>
        </div>
      </div>
    </section>
  )
}

const optionId = (side: StorySide, step: number) => `${side}-${step}`

/** Vertical middle of a step's row. For a hidden step, the border between the rows around it. */
const yOf = (steps: readonly number[], step: number, rowHeight: number): number => {
  let [low, high] = [0, steps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (steps[middle]! < step) low = middle + 1
    else high = middle
  }
  return (steps[low] === step ? low + 0.5 : low) * rowHeight
}

interface LaneNamesProps {
  readonly lanes: Lanes
  readonly execution: ShownExecution
  readonly numberWidth: number
  readonly label: string
}

const LaneNames = ({ lanes, execution, numberWidth, label }: LaneNamesProps) => {
  const addresses = new Map(execution.trace.header.nodes.map(({ name, address }) => [name, address]))
  return (
    <div class={lanes.areNarrow ? 'lanes narrow' : 'lanes'}>
      <span style={{ width: numberWidth }} />
      {lanes.names.map(name => (
        <span key={name} class="lane" style={{ width: lanes.laneWidth }} title={`${name} ${addresses.get(name) ?? ''}`}>
          {name}
          {lanes.laneWidth >= 70 && <small>{addresses.get(name)}</small>}
        </span>
      ))}
      <span class="pane-label">{label}</span>
    </div>
  )
}

type RowProps = PaneProps & {
  readonly step: number
  readonly numberWidth: number
  readonly place: number
  readonly isSelected: boolean
}

const Row = ({ side, execution, lanes, steps, rowHeight, select, badges, boundary, commonUpTo, ...row }: RowProps) => {
  const { step, numberWidth, place, isSelected } = row
  const found = badges(step)
  const classes = [
    'row',
    ...(isSelected ? ['selected'] : []),
    ...(rowHeight < normalMin ? ['low'] : []),
    ...(step === boundary ? ['boundary'] : []),
    ...(found.some(({ tone }) => tone === 'bad') ? ['bad'] : []),
    ...(commonUpTo !== undefined && step <= commonUpTo ? ['common'] : []),
  ]
  const choice = execution.steps[step]!.choice
  const [hasText, isHigh] = [rowHeight >= textHeightMin, rowHeight >= highMin]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled for the whole page
    // biome-ignore lint/a11y/useFocusableInteractive: the listbox has the focus, not its rows
    <div
      id={optionId(side, step)}
      role="option"
      class={classes.join(' ')}
      aria-selected={isSelected}
      aria-setsize={steps.length}
      aria-posinset={place}
      aria-label={hasText ? undefined : `${step} ${choice?.label ?? 'start'}`}
      style={{ height: rowHeight, gridTemplateColumns: `${numberWidth}px ${lanes.width}px 1fr` }}
      onClick={() => select({ side, step })}
    >
      {hasText && (
        <>
          <span class="number">
            {execution.tellsTime && <small class="time">{secondsOf(execution.timeOf(step)!)}</small>}
            {step}
          </span>
          <span />
          <span class={isHigh ? 'text high' : 'text'}>
            <span class="label">{choice?.label ?? 'start'}</span>
            <span class="about">
              {found.length > 0 && <Badges badges={found} />}
              {isHigh && step > 0 && <Changes execution={execution} step={step} />}
            </span>
          </span>
        </>
      )}
    </div>
  )
}

const secondsOf = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(3)} s`

/** The fields that a step changed, on one line. */
const Changes = ({ execution, step }: { execution: ShownExecution; step: number }) => {
  const texts = execution.changesIn(step).map(({ node, name, before, after }, index, all) => {
    const whose = node === all[index - 1]?.node ? '' : `${node}: `
    return `${whose}${name} ${shortly(before)} → ${shortly(after)}`
  })
  return (
    <span class="changes" title={texts.join('\n')}>
      <Named text={texts.join(' · ')} />
    </span>
  )
}

/**
 * The glyph of a step on its node's lane. A client's call is a line from the clients' lane to the nodes that it
 * touches.
 */
const StepGlyph = memo(
  ({ execution, lanes, step, y }: { execution: ShownExecution; lanes: Lanes; step: number; y: number }) => {
    const { choice } = execution.steps[step]!
    if (choice === undefined || isKindOfNetwork(choice.kind)) {
      return (
        <>
          {execution.nodes.map(name => (
            <Glyph key={name} kind={choice?.kind ?? 'start'} x={lanes.x(name)!} y={y} />
          ))}
        </>
      )
    }
    const x = lanes.x(choice.kind === 'client' ? clientsLane : choice.node)
    if (x === undefined) return null
    if (choice.kind !== 'client') return <Glyph kind={choice.kind} x={x} y={y} />
    const touched = execution.nodesTouchedBy(step).map(name => lanes.x(name)!)
    return (
      <>
        {touched.map(to => (
          <path key={to} class="call" d={`M${x} ${y}H${to - 5}`} marker-end="url(#head-call)" />
        ))}
        <Glyph kind="client" x={x} y={y} />
      </>
    )
  },
)
