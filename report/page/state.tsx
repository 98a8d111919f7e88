import { type DiffLine, showState } from '../model/changes.ts'
import { Named } from './names.tsx'

/** The diff of two states: `−` before removed lines, `+` before added ones. */
export const Diff = ({ lines }: { lines: readonly DiffLine[] }) => (
  <pre class="diff">
    {lines.map(({ sign, text }, index) => {
      const content = (
        <>
          {sign} <Named text={text} />
          {'\n'}
        </>
      )
      // biome-ignore-start lint/suspicious/noArrayIndexKey: lines have no other name
      if (sign === '-') return <del key={index}>{content}</del>
      return sign === '+' ? <ins key={index}>{content}</ins> : <span key={index}>{content}</span>
      // biome-ignore-end lint/suspicious/noArrayIndexKey: lines have no other name
    })}
  </pre>
)

export const State = ({ value, isDown }: { value: unknown; isDown: boolean }) => (
  <pre>{isDown ? 'down' : <Named text={showState(value)} />}</pre>
)
