import { glyphOf, roleOf, type Stroke } from '../../checker/happening/kinds.ts'
import type { ChoiceKind } from '../../checker/system/system.ts'

/** The mark of a step on its node's line. */
export const Glyph = ({ kind, x, y }: { kind: ChoiceKind | 'start'; x: number; y: number }) => (
  <g class={`glyph ${kind} ${kind === 'start' ? '' : roleOf(kind)}`} transform={`translate(${x} ${y})`}>
    {(kind === 'start' ? start : glyphOf(kind)).map(([look, path]) => (
      <path key={path} d={path} class={look} />
    ))}
  </g>
)

const start: readonly Stroke[] = [['hollow', 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z']]
