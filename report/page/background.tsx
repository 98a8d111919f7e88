import type { ShownExecution } from '../model/execution.ts'
import type { Span } from '../model/outages.ts'
import { clientsLane, type Lanes } from './lanes.ts'

interface BackgroundProps {
  readonly execution: ShownExecution
  readonly lanes: Lanes
  /** Steps whose rows are rendered. */
  readonly visible: readonly number[]
  readonly y: (step: number) => number
  readonly rowHeight: number
  readonly height: number
}

/** The nodes' lines, interrupted while a node is down, and partitions as bands. */
export const Background = ({ execution, lanes, visible, y, rowHeight, height }: BackgroundProps) => {
  const [first = 0, last = 0] = [visible[0], visible.at(-1)]
  const isSeen = ({ from, to }: Span) => from <= last && (to ?? Infinity) >= first
  const extent = ({ from, to }: Span) => {
    const start = Math.max(y(from), -rowHeight)
    return { start, length: Math.min(to === undefined ? height : y(to), height + rowHeight) - start }
  }
  // Each client has a bar of its own in the clients' lane, to the left of its line.
  const clients = [...new Set(execution.calls.map(({ client }) => client))]
  const room = lanes.laneWidth / 2 - 12
  const barX = (client: string) =>
    (lanes.x(clientsLane) ?? 0) - 10 - (clients.indexOf(client) * room) / Math.max(4, clients.length)
  return (
    <>
      <defs>
        <pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="3" height="8" class="hatch" />
        </pattern>
        {['delivered', 'chosen', 'call'].map(name => (
          <marker
            key={name}
            id={`head-${name}`}
            class={name}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0L8 4L0 8Z" />
          </marker>
        ))}
      </defs>
      {execution.partitions.filter(isSeen).map(partition => {
        const { start, length } = extent(partition)
        return (
          <g key={partition.from} class="partition">
            <rect x="0" y={start} width={lanes.width} height={length} fill="url(#hatch)" />
            <text x="4" y={Math.max(start, 0) + rowHeight * 0.9}>
              {partition.label}
            </text>
          </g>
        )
      })}
      {lanes.names.map(name => (
        <line key={name} class="lifeline" x1={lanes.x(name)} x2={lanes.x(name)} y1={0} y2={height} />
      ))}
      {execution.calls.filter(isSeen).map(call => {
        const { start, length } = extent(call)
        const x = barX(call.client)
        return (
          <g key={`${call.client} ${call.ordinal}`} class={`bar-of-call${call.error === undefined ? '' : ' bad'}`}>
            <rect x={x - 2} y={start} width="4" height={length} rx="2" />
            {call.to !== undefined && <path d={`M${x - 4} ${start + length}h8`} />}
          </g>
        )
      })}
      {execution.outages.filter(isSeen).map(outage => {
        const { start, length } = extent(outage)
        const x = lanes.x(outage.node)!
        return (
          <g key={`${outage.node} ${outage.from}`} class="outage">
            <rect x={x - 4} y={start} width="8" height={length} />
            <line x1={x} x2={x} y1={start} y2={start + length} />
          </g>
        )
      })}
    </>
  )
}
