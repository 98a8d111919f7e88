import type { ChoiceKind } from '../../checker/system.ts'

/** The mark of a step on its node's line. Kinds differ in shape, so that colour is not needed to tell them apart. */
export const Glyph = ({ kind, x, y }: { kind: ChoiceKind | 'start'; x: number; y: number }) => (
  <g class={`glyph ${kind}`} transform={`translate(${x} ${y})`}>
    {shapes[kind]}
  </g>
)

const shapes: Readonly<Record<ChoiceKind | 'start', preact.JSX.Element>> = {
  start: <circle r="4" class="hollow" />,
  deliver: <circle r="4" class="solid" />,
  timer: (
    <>
      <circle r="6" class="hollow" />
      <path d="M0 -4V0H3" class="line" />
    </>
  ),
  overlap: (
    <>
      <circle cx="-3" r="4.5" class="hollow" />
      <circle cx="3" r="4.5" class="solid" />
    </>
  ),
  divide: (
    <>
      <path d="M0 -4A4 4 0 0 0 0 4Z" class="solid" />
      <path d="M2 -4A4 4 0 0 1 2 4Z" class="hollow" />
    </>
  ),
  client: <path d="M-5 -5H2L7 0L2 5H-5Z" class="solid" />,
  drop: <path d="M-5 -5L5 5M-5 5L5 -5" class="line thick" />,
  duplicate: (
    <>
      <rect x="-6" y="-6" width="8" height="8" class="hollow" />
      <rect x="-2" y="-2" width="8" height="8" class="hollow" />
    </>
  ),
  reset: <path d="M2 -8L-4 1H0L-2 8L5 -2H1Z" class="solid" />,
  crash: (
    <>
      <rect x="-7" y="-7" width="14" height="14" class="solid" />
      <path d="M-4 -4L4 4M-4 4L4 -4" class="inverse" />
    </>
  ),
  restart: <path d="M-6 5L0 -6L6 5Z" class="solid" />,
  partition: <path d="M-5 -7V7M0 -7V7M5 -7V7" class="line thick" />,
  heal: <path d="M-7 0H7M0 -5V5" class="line thick" />,
  link: <path d="M-7 -3H7M-7 3H7" class="line thick" />,
  steer: (
    <>
      <circle r="6" class="hollow" />
      <path d="M-6 0H6M0 0V6" class="line thick" />
    </>
  ),
  healthy: <path d="M-6 0L-2 5L6 -5" class="line thick" />,
}
