import { Fragment } from 'preact'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import { describeCall } from '../model/calls.ts'
import { diffOf } from '../model/changes.ts'
import type { ShownExecution } from '../model/execution.ts'
import type { Journey } from '../model/journeys.ts'
import { badgesOf, liveBadgesOf, type Story } from '../model/story.ts'
import { Badges } from './badges.tsx'
import { ControlBox } from './control.tsx'
import { Enabled, NextChoices } from './enabled.tsx'
import { Glance } from './glance.tsx'
import { StepLink } from './links.tsx'
import { Named } from './names.tsx'
import { Payload } from './payload.tsx'
import { executionOn, type Selection, type StorySide } from './selection.ts'
import { Diff, State } from './state.tsx'

interface DetailsProps {
  readonly story: Story
  readonly selection: Selection
  readonly select: (selection: Selection) => void
}

/** Everything known of the selected step. */
export const Details = ({ story, selection, select }: DetailsProps) => {
  const { side, step } = selection
  const execution = executionOn(story, side)
  const recorded = execution.steps[step]!
  const badges = side === 'live' ? liveBadgesOf(story, step) : badgesOf(story, step)
  const shared = { execution, side, step, select }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must be able to focus it
    <section class="details" aria-label="The selected step" tabIndex={0}>
      <h2>
        {side === 'live' ? 'Live execution, step' : 'Step'} {step} of {execution.end}
        <span class="move">
          <button type="button" disabled={step === 0} onClick={() => select({ side, step: step - 1 })}>
            ← before
          </button>
          <button type="button" disabled={step === execution.end} onClick={() => select({ side, step: step + 1 })}>
            after →
          </button>
        </span>
      </h2>
      <p class="choice">
        <span class="kind">{recorded.choice?.kind ?? 'start'}</span>{' '}
        <code>{recorded.choice?.label ?? 'the nodes start'}</code>
        {execution.tellsTime && <span class="at"> at {ms(execution.timeOf(step))}</span>}
      </p>
      {side === 'main' && <ControlBox nodes={execution.nodes} step={step} />}
      {badges.length > 0 && <Badges badges={badges} />}
      <Started recorded={recorded} />
      <Clocks {...shared} />
      {recorded.findings.map(({ kind, node, message }) => (
        <p key={node} class="finding">
          {kind} of {node}: {message}
        </p>
      ))}
      <Values {...shared} recorded={recorded} />
      <Glance {...shared} recorded={recorded} />
      <Taken {...shared} />
      <States {...shared} recorded={recorded} />
      <Calls {...shared} />
      <Outputs recorded={recorded} />
      <Sent {...shared} />
      <Enabled {...shared} story={story} />
      {side === 'main' && step === execution.end && <NextChoices execution={execution} />}
      <AllStates {...shared} />
    </section>
  )
}

interface PartProps {
  readonly execution: ShownExecution
  readonly side: StorySide
  readonly step: number
  readonly select: (selection: Selection) => void
}

/** What happened in a start in which nodes waited for each other. */
const Started = ({ recorded: { started = [] } }: { readonly recorded: RecordedStep }) =>
  started.length === 0 ? null : (
    <section>
      <h3>Happened in the start, for nodes waited for each other</h3>
      <ol class="started">
        {started.map(label => (
          <li key={label}>
            <code>{label}</code>
          </li>
        ))}
      </ol>
    </section>
  )

/** Calls that began, were under way or returned in the step. */
const Calls = ({ execution, side, step, select }: PartProps) => {
  const calls = execution.calls.filter(({ from, to }) => from <= step && step <= (to ?? Infinity))
  if (calls.length === 0) return null
  return (
    <>
      <h3>What clients see</h3>
      <ul>
        {calls.map(call => (
          <li key={`${call.client} ${call.ordinal}`}>
            {call.client}, called in <StepLink side={side} step={call.from} select={select} />
            {call.to === undefined ? (
              ', has no answer to the end'
            ) : (
              <>
                , {call.to === step ? 'has its answer' : 'will have its answer in '}
                {call.to !== step && <StepLink side={side} step={call.to} select={select} />}
              </>
            )}
            {call.to === step && (
              <>
                : <code>{describeCall(call)}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

const ms = (value: number | undefined) => (value === undefined ? '?' : `${Number(value.toFixed(3))} ms`)

const inFlight = (milliseconds: number | undefined): string =>
  milliseconds === undefined ? '' : `, ${ms(milliseconds)} in flight`

/** Virtual clocks of the nodes that the step acts on. */
const Clocks = ({ execution, step }: PartProps) => {
  const clocks = execution.nodesTouchedBy(step).flatMap(node => {
    const after = execution.clockAfter(node, step)
    return after === undefined ? [] : [{ node, before: execution.clockAfter(node, step - 1), after }]
  })
  if (clocks.length === 0) return null
  return (
    <p class="clocks">
      virtual time{' '}
      {clocks.map(({ node, before, after }) => (
        <span key={node}>
          {node} {before !== undefined && before !== after ? `${ms(before)} → ${ms(after)}` : ms(after)}
        </span>
      ))}
    </p>
  )
}

/** Properties whose value the step changed. */
const Values = ({ step, recorded: { properties } }: PartProps & { recorded: RecordedStep }) => (
  <>
    {properties.map(({ name, holds }) => (
      <p key={name} class={holds ? 'value good' : 'value bad'}>
        {holds ? '✓' : '✗'} <strong>{name}</strong> {holds ? 'holds' : 'does not hold'}{' '}
        {step === 0 ? 'at first' : 'from here'}
      </p>
    ))}
  </>
)

/** The messages that the step delivered or dropped. */
const Taken = ({ execution, side, step, select }: PartProps) => (
  <>
    {execution.journeysEndedAt(step).map(journey => (
      <section key={journey.message.label}>
        <h3>
          Message {journey.fate}, sent in <StepLink {...{ side, select }} step={journey.sentAt} />
          {inFlight(execution.timeBetween(journey.sentAt, step))}
        </h3>
        <Payload message={journey.message} />
      </section>
    ))}
  </>
)

/** States that the step changed. If the state of its own node did not change, it is shown as well. */
const States = ({ execution, step, recorded }: PartProps & { recorded: RecordedStep }) => {
  const changed = recorded.states.map(({ node }) => node)
  const unchanged = execution.nodesTouchedBy(step).filter(node => !changed.includes(node))
  return (
    <>
      {changed.map(node => (
        <section key={node}>
          <h3>State of {node}</h3>
          <Diff lines={diffOf(execution.stateAfter(node, step - 1), execution.stateAfter(node, step))} />
        </section>
      ))}
      {unchanged.map(node => (
        <section key={node}>
          <h3>State of {node}, unchanged</h3>
          <State value={execution.stateAfter(node, step)} isDown={execution.isDownAfter(node, step)} />
        </section>
      ))}
    </>
  )
}

const Outputs = ({ recorded: { outputs } }: { recorded: RecordedStep }) => (
  <>
    {outputs.map(({ node, stream, bytes }) => (
      <section key={`${node} ${stream}`}>
        <h3>
          {node} wrote to {stream}
        </h3>
        <pre>
          <Named text={new TextDecoder().decode(bytes).trimEnd()} />
        </pre>
      </section>
    ))}
  </>
)

/** The messages that were sent in the step, and how each ended. */
const Sent = ({ execution, side, step, select }: PartProps) => {
  const sent = execution.journeysSentAt(step)
  if (sent.length === 0) return null
  return (
    <section>
      <h3>Sent in this step</h3>
      {sent.map(journey => (
        <Fragment key={journey.message.label}>
          <Became {...{ execution, journey, side, select }} />
          <Payload message={journey.message} />
        </Fragment>
      ))}
    </section>
  )
}

const Became = ({
  execution,
  journey: { fate, sentAt, endedAt },
  side,
  select,
}: { journey: Journey } & Pick<PartProps, 'execution' | 'side' | 'select'>) =>
  endedAt === undefined ? (
    <h4>Never delivered here</h4>
  ) : (
    <h4>
      {fate} in <StepLink {...{ side, select }} step={endedAt} />
      {inFlight(execution.timeBetween(sentAt, endedAt))}
    </h4>
  )

const AllStates = ({ execution, step }: PartProps) => (
  <details>
    <summary>States of all nodes after this step</summary>
    {execution.nodes.map(node => (
      <section key={node}>
        <h3>{node}</h3>
        <State value={execution.stateAfter(node, step)} isDown={execution.isDownAfter(node, step)} />
      </section>
    ))}
    <Timers execution={execution} step={step} />
  </details>
)

const Timers = ({ execution, step }: Pick<PartProps, 'execution' | 'step'>) => (
  <section>
    <h3>Pending timers</h3>
    <ul>
      {execution.nodes.flatMap(node =>
        execution.timersAfter(node, step).map((deadlineMs, index) => (
          <li key={`${node} ${index}`}>
            {node} in {ms(deadlineMs)}
          </li>
        )),
      )}
    </ul>
  </section>
)
