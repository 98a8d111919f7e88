import { createContext } from 'preact'
import { useCallback, useContext, useState } from 'preact/hooks'
import type { Story } from '../model/story.ts'
import type { Ran } from '../page-data.ts'
import type { ServedProcesses, Whereabouts } from './processes.ts'

/** What a served page can make its processes do. */
export interface ServedControl {
  /** The step at which the processes are. */
  readonly at: number
  /** Whether they have left the trace for a branch. */
  readonly isBranch: boolean
  /** Whether they are moving now. */
  readonly isBusy: boolean
  /** Error of the last request. */
  readonly problem: string | undefined
  /** Result of the last program that was run in a node. */
  readonly ran: Ran | undefined
  /** Path to which the branch was last saved. */
  readonly saved: string | undefined
  readonly go: (step: number) => void
  /** Goes to a step and takes a choice there. */
  readonly take: (step: number, label: string) => void
  /** Leaves a branch. */
  readonly leave: () => void
  /** Writes the steps up to the present one as a trace. */
  readonly save: () => void
  readonly run: (step: number, node: string, program: string) => void
}

/** Undefined in a page that is opened from a file. */
export const Controlled = createContext<ServedControl | undefined>(undefined)

/** @param show is called with the execution to show from now on, and the step to select */
export const useControl = (
  processes: ServedProcesses | undefined,
  show: (story: Story | undefined, step: number) => void,
): ServedControl | undefined => {
  const [at, setAt] = useState(processes?.place.at ?? 0)
  const [isBranch, setIsBranch] = useState(processes?.place.isBranch ?? false)
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [ran, setRan] = useState<Ran | undefined>(undefined)
  const [saved, setSaved] = useState<string | undefined>(undefined)
  const perform = useCallback(async (act: () => Promise<void>) => {
    setIsBusy(true)
    setProblem(undefined)
    setRan(undefined)
    setSaved(undefined)
    await act().catch(error => setProblem(error.message))
    setIsBusy(false)
  }, [])
  if (processes === undefined) return undefined
  const arrive = ({ at, isBranch, story }: Whereabouts) => {
    setAt(at)
    setIsBranch(isBranch)
    show(story, at)
  }
  return {
    ...{ at, isBranch, isBusy, problem, ran, saved },
    go: step => void perform(async () => arrive(await processes.go(step))),
    take: (step, label) => void perform(async () => arrive(await processes.take(step, label))),
    leave: () => void perform(async () => arrive(await processes.leave())),
    save: () => void perform(async () => setSaved(await processes.save())),
    run: (step, node, program) =>
      void perform(async () => {
        setRan(await processes.run(step, node, program.trim().split(/\s+/)))
        setAt(step)
      }),
  }
}

/** Where the processes are, and what they can be made to do at the selected step. */
export const ControlBox = ({ nodes, step }: { nodes: readonly string[]; step: number }) => {
  const control = useContext(Controlled)
  const [node, setNode] = useState(nodes[0]!)
  const [program, setProgram] = useState('')
  if (control === undefined) return null
  const { at, isBranch, isBusy, problem, ran, saved, go, leave, save, run } = control
  return (
    <section class="control" aria-label="The processes" aria-busy={isBusy}>
      <p>
        The processes {isBusy ? 'are on their way' : `stand at step ${at}`}.{' '}
        <button type="button" disabled={isBusy || at === step} onClick={() => go(step)}>
          bring them here
        </button>
      </p>
      {isBranch && (
        <p>
          This is a branch of the trace.{' '}
          <button type="button" disabled={isBusy} onClick={leave}>
            back to the trace
          </button>{' '}
          <button type="button" disabled={isBusy} onClick={save}>
            save it up to step {at}
          </button>
        </p>
      )}
      {saved && <p role="status">Saved as {saved}</p>}
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

/** A button that takes a choice after a step. */
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
