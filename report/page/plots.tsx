import type { RecordedVerdict, Sample } from '../../checker/verdict/verdict.ts'

const size = { width: 460, height: 150, left: 56, bottom: 26, top: 8 }
const inner = { width: size.width - size.left - 12, height: size.height - size.bottom - size.top }

/** How the search went, if the verdict records it. */
export const Plots = ({ verdict: { growth = [], coverage } }: { verdict: RecordedVerdict }) => (
  <div class="plots">
    {growth.length > 1 && growth.some(({ states }) => states > 0) && <Growth samples={growth} />}
    {coverage?.walksToLive?.some(count => count > 0) && <ToLive counts={coverage.walksToLive} />}
  </div>
)

const Growth = ({ samples }: { samples: readonly Sample[] }) => {
  const last = samples.at(-1)!
  const most = Math.max(...samples.map(({ states }) => states))
  const x = (seconds: number) => size.left + (seconds / (last.seconds || 1)) * inner.width
  const y = (states: number) => size.top + (1 - states / most) * inner.height
  return (
    <Figure title={`States over time: ${most} in ${last.seconds.toFixed(1)} s`}>
      <Axes most={most} />
      <text x={size.left} y={size.height - 12}>
        0
      </text>
      <text x={size.left + inner.width} y={size.height - 12} text-anchor="end">
        {last.seconds.toFixed(1)} s
      </text>
      <polyline class="curve" points={samples.map(({ seconds, states }) => `${x(seconds)},${y(states)}`).join(' ')} />
    </Figure>
  )
}

/**
 * A histogram of walks by the number of steps that they needed to reach a live state. Each bar covers twice as many
 * steps as the one before.
 */
const ToLive = ({ counts }: { counts: readonly number[] }) => {
  const most = Math.max(...counts)
  const width = inner.width / counts.length
  return (
    <Figure title="Steps that walks needed to reach a live state (each `eventually` property held at some step)">
      <Axes most={most} />
      {counts.map((count, digits) => {
        const height = (count / most) * inner.height
        const x = size.left + digits * width
        const from = digits < 2 ? digits : 2 ** (digits - 1)
        return (
          <g key={from}>
            <rect
              class="bar"
              x={x + 2}
              y={size.top + inner.height - height}
              width={Math.max(1, width - 4)}
              height={height}
            >
              <title>{`${count} walks: ${from} steps or more`}</title>
            </rect>
            <text x={x + width / 2} y={size.height - 12} text-anchor="middle">
              {digits === counts.length - 1 ? `${from} steps` : from}
            </text>
          </g>
        )
      })}
    </Figure>
  )
}

const Figure = ({ title, children }: { title: string; children: preact.ComponentChildren }) => (
  <figure>
    <figcaption>{title}</figcaption>
    <svg
      width={size.width}
      height={size.height}
      viewBox={`0 0 ${size.width} ${size.height}`}
      role="img"
      aria-label={title}
    >
      {children}
    </svg>
  </figure>
)

const Axes = ({ most }: { most: number }) => (
  <>
    <path class="axes" d={`M${size.left} ${size.top}V${size.top + inner.height}H${size.left + inner.width}`} />
    <text x={size.left - 6} y={size.top + 8} text-anchor="end">
      {most}
    </text>
    <text x={size.left - 6} y={size.top + inner.height} text-anchor="end">
      0
    </text>
  </>
)
