import { useState } from 'preact/hooks'
import { replayCommand, testOf } from '../model/again.ts'
import type { Story } from '../model/story.ts'

/** What has the execution again, ready to be copied. */
export const Again = ({ story, path }: { story: Story; path: string | undefined }) => {
  const test = testOf(story.main.trace)
  if (path === undefined && test === undefined) return null
  return (
    <section class="again" aria-label="Have it again">
      <h2>Have it again</h2>
      {path !== undefined && <Copied name="command" text={replayCommand(path)} />}
      {test !== undefined && (
        <details>
          <summary>As a test of vitest, which fails while it is there</summary>
          <Copied name="test" text={test} />
        </details>
      )}
    </section>
  )
}

const Copied = ({ name, text }: { name: string; text: string }) => {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <div class="copied">
      <pre>{text}</pre>
      {/* A page that is no secure context may not write to the clipboard. */}
      {navigator.clipboard && (
        <button type="button" onClick={copy} aria-label={`copy the ${name}`}>
          {isCopied ? 'copied' : 'copy'}
        </button>
      )}
    </div>
  )
}
