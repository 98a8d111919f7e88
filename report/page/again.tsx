import { useState } from 'preact/hooks'
import { replayCommand, testOf } from '../model/again.ts'
import { issueOf } from '../model/issue.ts'
import type { Story } from '../model/story.ts'

/** A command and a test that execute the trace again, with buttons to copy them. */
export const ExecuteAgain = ({ story, path }: { story: Story; path: string | undefined }) => {
  const test = testOf(story.main.trace)
  const issue = issueIn(story, path)
  if (path === undefined && test === undefined) return null
  return (
    <section class="again" aria-label="Execute it again">
      <h2>Execute it again</h2>
      {path !== undefined && <Copied name="command" text={replayCommand(path)} />}
      {issue !== undefined && (
        <details>
          <summary>As a text for an issue</summary>
          <Copied name="issue" text={issue} />
        </details>
      )}
      {test !== undefined && (
        <details>
          <summary>As a vitest test, which fails until the bug is mended</summary>
          <Copied name="test" text={test} />
        </details>
      )}
    </section>
  )
}

const issueIn = ({ verdict, main }: Story, path: string | undefined): string | undefined =>
  path !== undefined && verdict?.verdict === 'violated' && verdict.schedule
    ? issueOf(main, verdict, replayCommand(path)).join('\n')
    : undefined

const Copied = ({ name, text }: { name: string; text: string }) => {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
  }
  return (
    <div class="copied">
      <pre>{text}</pre>
      {/* Browsers offer the clipboard to secure contexts only. */}
      {navigator.clipboard && (
        <button type="button" onClick={copy} aria-label={`copy the ${name}`}>
          {isCopied ? 'copied' : 'copy'}
        </button>
      )}
    </div>
  )
}
