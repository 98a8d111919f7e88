import type { ShownExecution } from '../model/execution.ts'
import type { Journey } from '../model/journeys.ts'
import type { Lanes } from './lanes.ts'

interface ArrowsProps {
  readonly execution: ShownExecution
  readonly lanes: Lanes
  /** Steps whose rows are rendered. */
  readonly visible: readonly number[]
  readonly y: (step: number) => number
  readonly rowHeight: number
  readonly selected: number | undefined
}

/**
 * An arrow over more rows than this is drawn as two stubs, unless it belongs to the selected step. Longer arrows would
 * hide the graph.
 */
const rowsMax = 30

/** Arrows of the messages that are sent or end in a rendered row. */
export const Arrows = ({ execution, visible, selected, ...geometry }: ArrowsProps) => {
  const journeys = new Set(
    visible.flatMap(step => [...execution.journeysSentAt(step), ...execution.journeysEndedAt(step)]),
  )
  const isChosen = ({ sentAt, endedAt }: Journey) =>
    selected !== undefined && (sentAt === selected || endedAt === selected)
  const drawn = [...journeys].sort((one, other) => Number(isChosen(one)) - Number(isChosen(other)))
  return (
    <>
      {drawn.map(journey => (
        <Arrow key={journey.message.label} {...{ journey, ...geometry }} isChosen={isChosen(journey)} />
      ))}
    </>
  )
}

interface ArrowProps extends Pick<ArrowsProps, 'lanes' | 'y' | 'rowHeight'> {
  readonly journey: Journey
  readonly isChosen: boolean
}

const Arrow = ({ journey, lanes, y, rowHeight, isChosen }: ArrowProps) => {
  const { message, sentAt, fate, endedAt } = journey
  const [from, to] = [lanes.x(message.from), lanes.x(message.to)]
  if (from === undefined || to === undefined) return null
  const start = { x: from, y: y(sentAt) }
  const classes = `message ${fate}${isChosen ? ' chosen' : ''}${journey.isCopy ? ' copy' : ''}`
  if (endedAt === undefined) return <Held start={start} toX={to} rowHeight={rowHeight} classes={classes} />
  // The arrow of a lost or dropped message ends before it reaches its receiver.
  const share = fate === 'delivered' ? 1 : 0.7
  const end = { x: from + (to - from) * share, y: y(endedAt) }
  const line = (a: Point, b: Point, isEnd: boolean) => (
    <path
      d={from === to ? bow(a, b) : `M${a.x} ${a.y}L${b.x} ${b.y}`}
      marker-end={isEnd && fate === 'delivered' ? `url(#head-${isChosen ? 'chosen' : 'delivered'})` : undefined}
    />
  )
  const tip = fate === 'delivered' ? shortened(start, end, 4) : end
  const isLong = !isChosen && Math.abs(end.y - start.y) > rowsMax * rowHeight
  return (
    <g class={classes}>
      {isLong ? (
        <>
          {line(start, shortened(end, start, distance(start, end) - stubLength), false)}
          {line(shortened(start, end, stubLength), tip, true)}
        </>
      ) : (
        line(start, tip, true)
      )}
      {fate === 'dropped' && <path class="end" d={`M${end.x - 4} ${end.y - 4}l8 8m0 -8l-8 8`} />}
      {fate === 'lost' && <path class="end" d={`M${end.x - 6} ${end.y}l3 -4l3 8l3 -8l3 4`} />}
    </g>
  )
}

interface Point {
  readonly x: number
  readonly y: number
}

const stubLength = 40

const distance = (one: Point, other: Point) => Math.hypot(other.x - one.x, other.y - one.y)

/** The point on the line towards `to` that is `by` away from it. */
const shortened = (from: Point, to: Point, by: number): Point => {
  const share = Math.max(0, 1 - by / (distance(from, to) || 1))
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}

/** The curve for a message from a node to itself. */
const bow = (a: Point, b: Point) => `M${a.x} ${a.y}C${a.x + 26} ${a.y} ${b.x + 26} ${b.y} ${b.x} ${b.y}`

interface HeldProps {
  readonly start: Point
  readonly toX: number
  readonly rowHeight: number
  readonly classes: string
}

/** A held message: a stub with an open end. */
const Held = ({ start, toX, rowHeight, classes }: HeldProps) => {
  const end = { x: start.x + (toX - start.x) * 0.4, y: start.y + rowHeight * 0.6 }
  return (
    <g class={classes}>
      <path d={`M${start.x} ${start.y}L${end.x} ${end.y}`} />
      <circle cx={end.x} cy={end.y} r="3" />
    </g>
  )
}
