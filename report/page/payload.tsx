import type { RecordedMessage } from '../../checker/trace/trace.ts'
import { showState } from '../model/changes.ts'
import { hexOf, printableText } from '../model/payload.ts'
import { Named } from './names.tsx'

/** A message: its label, its text if it is printable, and its bytes. */
export const Payload = ({ message: { label, kind, bytes, length } }: { message: RecordedMessage }) => {
  const text = printableText(bytes)
  const hex = bytes.length > 0 && <pre class="hex">{hexOf(bytes)}</pre>
  const size = `${length} byte${length === 1 ? '' : 's'}${bytes.length < length ? `, the first ${bytes.length} of them here` : ''}`
  return (
    <>
      <p class="message-name">
        <code>{label}</code> {kind !== '' && <span class="kind">{kind}</span>} {length > 0 && size}
      </p>
      {text && (
        <pre>
          <Named text={laidOut(text)} />
        </pre>
      )}
      {hex &&
        (text ? (
          <details>
            <summary>as bytes</summary>
            {hex}
          </details>
        ) : (
          hex
        ))}
    </>
  )
}

const laidOut = (text: string): string => {
  try {
    return showState(JSON.parse(text))
  } catch {
    return text
  }
}
