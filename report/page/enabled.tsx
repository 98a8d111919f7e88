import { useContext } from 'preact/hooks'
import type { RecordedChoice } from '../../checker/trace/trace.ts'
import type { ShownExecution } from '../model/execution.ts'
import { takenBy } from '../model/journeys.ts'
import type { Story } from '../model/story.ts'
import { Controlled, Take } from './control.tsx'
import { StepLink } from './links.tsx'
import type { Selection, StorySide } from './selection.ts'

interface EnabledProps {
  readonly story: Story
  readonly execution: ShownExecution
  readonly side: StorySide
  readonly step: number
  readonly select: (selection: Selection) => void
}

/**
 * Choices shown in each list. Likely choices come first, so the rest would make the list longer but hardly more useful.
 */
const shownMax = 100

/** The choices that could have been taken instead of a step, and whether each is taken later. */
export const Enabled = ({ execution, step, ...others }: EnabledProps) => {
  if (step === 0) return null
  if (!execution.tellsEnabled)
    return (
      <p class="hint">
        What else was possible is not in this trace: it is of a run at the pace native, or of an older version.
      </p>
    )
  const taken = execution.steps[step]!.choice!
  const enabled = execution.enabledBefore(step).filter(({ label }) => label !== taken.label)
  const inputs = enabled.filter(({ kind }) => kind === 'deliver' || kind === 'timer' || kind === 'client')
  const rest = enabled.filter(choice => !inputs.includes(choice))
  const list = (choices: readonly RecordedChoice[]) => (
    <ul class="enabled">
      {choices.slice(0, shownMax).map(choice => (
        <li key={choice.label}>
          <code>{choice.label}</code> {others.side === 'main' && <Take step={step - 1} label={choice.label} />}{' '}
          <When {...others} {...{ execution, step, taken, choice }} />
        </li>
      ))}
      {choices.length > shownMax && <li>and {choices.length - shownMax} more</li>}
    </ul>
  )
  return (
    <section>
      <h3>What else was possible here</h3>
      {enabled.length === 0 && <p>Nothing.</p>}
      {list(inputs)}
      {rest.length > 0 && (
        <details>
          <summary>
            {rest.length} {[...new Set(rest.map(({ kind }) => kind))].join(', ')}
          </summary>
          {list(rest)}
        </details>
      )}
    </section>
  )
}

/** The choices enabled after the last step, if there are processes that can take them. */
export const NextChoices = ({ execution }: { execution: ShownExecution }) => {
  if (useContext(Controlled) === undefined) return null
  const choices = execution.enabledBefore(execution.end + 1)
  return (
    <section>
      <h3>What is possible next</h3>
      {choices.length === 0 && <p>Nothing.</p>}
      <ul class="enabled">
        {choices.slice(0, shownMax).map(({ label }) => (
          <li key={label}>
            <code>{label}</code> <Take step={execution.end} label={label} />
          </li>
        ))}
        {choices.length > shownMax && <li>and {choices.length - shownMax} more</li>}
      </ul>
    </section>
  )
}

type WhenProps = Omit<EnabledProps, 'execution'> & {
  execution: ShownExecution
  taken: RecordedChoice
  choice: RecordedChoice
}

/** Where a choice that was not taken here is taken later, in this execution or in the other one. */
const When = ({ story, execution, side, step, select, taken, choice }: WhenProps) => {
  if (takenBy(taken).includes(choice.label)) return <em>a part of this step</em>
  const later = execution.stepTaking(choice.label, step + 1)
  const isParting = side === 'main' && step === story.comparison?.firstDifference
  const isLive = isParting && story.live?.steps[step]?.choice?.label === choice.label
  return (
    <>
      {later !== undefined && (
        <em>
          taken in <StepLink {...{ side, select }} step={later} />
        </em>
      )}
      {isLive && (
        <em>
          {' '}
          taken here by the{' '}
          <StepLink side="live" step={step} select={select}>
            live execution
          </StepLink>
        </em>
      )}
    </>
  )
}
