import { allKinds, kinds, prediction } from '../../checker/happening/kinds.ts'
import { Glyph, type GlyphKind } from './glyph.tsx'

const fates = [
  ['delivered', 'M2 4L34 12', 'delivered'],
  ['dropped', 'M2 4L26 10M22 6l8 8m0 -8l-8 8', 'dropped'],
  ['lost', 'M2 4L22 9M22 10l3 -4l3 8l3 -8l3 4', 'lost with its connection, or in a partition'],
  ['held', 'M2 4L24 10', 'held to the end'],
] as const

const keys: readonly (readonly [string, string])[] = [
  ['↑ ↓', 'step before, step after'],
  ['PgUp PgDn', 'twenty steps'],
  ['Home End', 'first, last'],
  ['← →', 'the execution, the live one'],
  ['c', 'the decisive step'],
  ['+ −', 'zoom'],
  ['/', 'search'],
]

const explained: readonly (readonly [GlyphKind, string])[] = [
  ...allKinds.map(kind => [kind, kinds[kind].happens] as const),
  ['prediction', prediction.happens],
]

/** What the marks mean and what the keys do. */
export const Legend = () => (
  <details class="legend">
    <summary>Legend and keys</summary>
    <div>
      <ul>
        {explained.map(([kind, happens]) => (
          <li key={kind}>
            <svg width="36" height="18" aria-hidden="true">
              <Glyph kind={kind} x={18} y={9} />
            </svg>
            {happens}
          </li>
        ))}
      </ul>
      <ul>
        {fates.map(([fate, path, meaning]) => (
          <li key={fate}>
            <svg width="36" height="18" aria-hidden="true">
              <g class={`message ${fate}`}>
                <path d={path} marker-end={fate === 'delivered' ? 'url(#head-delivered)' : undefined} />
                {fate === 'held' && <circle cx="27" cy="11" r="3" />}
              </g>
            </svg>
            {meaning}
          </li>
        ))}
      </ul>
      <dl>
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </div>
  </details>
)
