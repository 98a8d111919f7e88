import { shortly } from '../model/changes.ts'
import { happenedIn, waysPart } from '../model/happened.ts'
import type { Story } from '../model/story.ts'
import { StepLink } from './links.tsx'
import { Named } from './names.tsx'
import type { Selection } from './selection.ts'

interface SummaryProps {
  readonly story: Story
  readonly select: (selection: Selection) => void
}

/** What was found, in a few sentences with links to the steps. */
export const StorySummary = ({ story, select }: SummaryProps) => {
  const { main, verdict } = story
  const { header, torn } = main.trace
  const what = [verdict?.kind, verdict?.property].filter(Boolean).join(' ')
  const happened = verdict?.verdict === 'violated' ? happenedIn(verdict) : undefined
  const parting = verdict?.criticalTransition ? waysPart(verdict) : undefined
  return (
    <header>
      <h1>
        {header.system} <span class={`verdict ${verdict?.verdict ?? ''}`}>{verdict?.verdict ?? 'no verdict'}</span>{' '}
        {what}
      </h1>
      {torn && <p class="torn">The tool ended while it wrote: this is the trace up to step {torn.afterStep}.</p>}
      {main.outlinedTo >= 0 && (
        <p class="torn">
          Only an outline is kept of the steps up to <StepLink step={main.outlinedTo} select={select} />: what was
          chosen, and not what was sent, written and seen.
        </p>
      )}
      {happened && <p class="happened">What happened: {happened}.</p>}
      {verdict && <p class="message">{verdict.message}</p>}
      {parting && <p>Its cause: {parting}.</p>}
      {verdict && main.end > 0 && <Decisive story={story} select={select} />}
      {verdict?.criticalTransition && <Contrast story={story} select={select} />}
    </header>
  )
}

/** What the decisive step did. */
const Decisive = ({ story: { main, decisive, verdict }, select }: SummaryProps) => {
  const choice = main.steps[decisive]!.choice
  const fields = main.changesIn(decisive)
  return (
    <p>
      {verdict!.criticalTransition ? 'The critical transition is ' : 'It ends with '}
      <StepLink step={decisive} select={select} />, <code>{choice?.label ?? 'the start'}</code>
      {fields.length === 0 ? '. No observed state changes in it.' : ', which changes '}
      {fields.map(({ node, name, before, after }, index) => (
        <span key={`${node} ${name}`}>
          {index > 0 && '; '}
          <strong>{node}</strong>
          {name && `’s ${name}`} from{' '}
          <code>
            <Named text={shortly(before)} />
          </code>{' '}
          to{' '}
          <code>
            <Named text={shortly(after)} />
          </code>
        </span>
      ))}
      {fields.length > 0 && '.'}
    </p>
  )
}

/** What the closest live execution did instead. */
const Contrast = ({ story: { main, live, comparison, verdict, decisive }, select }: SummaryProps) => {
  const { criticalTransition, closestLive } = verdict!
  const before = criticalTransition!.step - 1
  if (before < 0) return <p>Already the start cannot recover.</p>
  const recoverable = (
    <>
      After <StepLink step={before} select={select} /> it could still recover
    </>
  )
  if (!live || !comparison) {
    const next = closestLive?.[before]
    return (
      <p>
        {recoverable}
        {next ? (
          <>
            : a live execution goes on with <code>{next}</code>.
          </>
        ) : (
          '.'
        )}
      </p>
    )
  }
  const { common, firstDifference } = comparison
  if (firstDifference > live.end)
    return (
      <p>
        {recoverable}: {verdict!.property} holds in <StepLink side="live" step={live.end} select={select} /> itself.
      </p>
    )
  const later = main.steps[decisive]!.choice && live.stepTaking(main.steps[decisive]!.choice!.label, firstDifference)
  return (
    <p>
      {recoverable}: the closest live execution goes the same way up to step {common}, then takes{' '}
      <StepLink side="live" step={firstDifference} select={select}>
        {live.steps[firstDifference]!.choice!.label}
      </StepLink>{' '}
      instead, and {verdict!.property} holds after its <StepLink side="live" step={live.end} select={select} />.{' '}
      {later === undefined ? (
        'It never takes the critical step.'
      ) : (
        <>
          It takes the critical step too, but later, as its <StepLink side="live" step={later} select={select} />.
        </>
      )}
    </p>
  )
}
