import { glyphOf, prediction, roleOf, type Stroke } from '../../checker/happening/kinds.ts'
import type { ChoiceKind } from '../../checker/system/system.ts'

/** What has a mark: a kind of step, and what is none. */
export type GlyphKind = ChoiceKind | 'start' | 'prediction'

/** The mark of a step on its node's line, or of what is shown beside them. */
export const Glyph = ({ kind, x, y }: { kind: GlyphKind; x: number; y: number }) => (
  <g class={`glyph ${kind} ${isStep(kind) ? roleOf(kind) : ''}`} transform={`translate(${x} ${y})`}>
    {strokesOf(kind).map(([look, path]) => (
      <path key={path} d={path} class={look} />
    ))}
  </g>
)

const isStep = (kind: GlyphKind): kind is ChoiceKind => kind !== 'start' && kind !== 'prediction'

const strokesOf = (kind: GlyphKind): readonly Stroke[] => {
  if (isStep(kind)) return glyphOf(kind)
  return kind === 'start' ? start : prediction.glyph
}

const start: readonly Stroke[] = [['hollow', 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z']]
