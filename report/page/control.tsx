import { createContext } from 'preact'
import { useCallback, useContext, useState } from 'preact/hooks'
import type { Story } from '../model/story.ts'
import type { Ran } from '../page-data.ts'
import type { Place, Processes } from './processes.ts'

/** What a page that is served can have its processes do. */
export interface Control {
  /** The step that they stand at. */
  readonly at: number
  /** Whether they are on their way. */
  readonly isBusy: boolean
  /** What was wrong with what was asked last. */
  readonly problem: string | undefined
  /** What was run in a node last. */
  readonly ran: Ran | undefined
  readonly go: (step: number) => void
  /** Has them make a choice after a step. */
  readonly take: (step: number, label: string) => void
  readonly run: (step: number, node: string, program: string) => void
}

/** Nothing in a page that is opened from a file. */
export const Controlled = createContext<Control | undefined>(undefined)

/** @param show what the page shows from now on, and the step that is selected */
export const useControl = (
  processes: Processes | undefined,
  show: (story: Story | undefined, step: number) => void,
): Control | undefined => {
  const [at, setAt] = useState(0)
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [ran, setRan] = useState<Ran | undefined>(undefined)
  const perform = useCallback(async (act: () => Promise<void>) => {
    setIsBusy(true)
    setProblem(undefined)
    setRan(undefined)
    await act().catch(error => setProblem(error.message))
    setIsBusy(false)
  }, [])
  if (processes === undefined) return undefined
  const arrive = ({ at, story }: Place) => {
    setAt(at)
    show(story, at)
  }
  return {
    ...{ at, isBusy, problem, ran },
    go: step => void perform(async () => arrive(await processes.go(step))),
    take: (step, label) => void perform(async () => arrive(await processes.take(step, label))),
    run: (step, node, program) =>
      void perform(async () => {
        setRan(await processes.run(step, node, program.trim().split(/\s+/)))
        setAt(step)
      }),
  }
}

/** Where the processes stand, and what can be done with them at the selected step. */
export const ControlBox = ({ nodes, step }: { nodes: readonly string[]; step: number }) => {
  const control = useContext(Controlled)
  const [node, setNode] = useState(nodes[0]!)
  const [program, setProgram] = useState('')
  if (control === undefined) return null
  const { at, isBusy, problem, ran, go, run } = control
  return (
    <section class="control" aria-label="The processes" aria-busy={isBusy}>
      <p>
        The processes {isBusy ? 'are on their way' : `stand at step ${at}`}.{' '}
        <button type="button" disabled={isBusy || at === step} onClick={() => go(step)}>
          bring them here
        </button>
      </p>
      <form
        onSubmit={event => {
          event.preventDefault()
          run(step, node, program)
        }}
      >
        <label>
          run in{' '}
          <select value={node} onChange={({ currentTarget }) => setNode(currentTarget.value)}>
            {nodes.map(each => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>{' '}
        <input
          aria-label="Program and arguments"
          placeholder="ls -l /proc/1/fd"
          required
          value={program}
          onInput={({ currentTarget }) => setProgram(currentTarget.value)}
        />{' '}
        <button type="submit" disabled={isBusy}>
          run
        </button>
      </form>
      {ran && (
        <pre class="ran">
          {ran.stdout}
          {ran.stderr}
          {ran.exitCode === 0 ? '' : `\nexit code ${ran.exitCode}`}
        </pre>
      )}
      {problem && (
        <p class="finding" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}

/** Has the processes make a choice after a step. */
export const Take = ({ step, label }: { step: number; label: string }) => {
  const control = useContext(Controlled)
  if (control === undefined) return null
  return (
    <button
      type="button"
      class="take"
      aria-label={`take ${label}`}
      disabled={control.isBusy}
      onClick={() => control.take(step, label)}
    >
      take
    </button>
  )
}
