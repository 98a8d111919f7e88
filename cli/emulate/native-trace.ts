import type { Choice, ChoiceKind } from '../../checker/system/system.ts'
import type { RecordedChoice, RecordedStep, TraceHeader } from '../../checker/trace/trace.ts'
import type { TraceWriter } from '../../checker/trace/write.ts'
import { stateOf } from '../../harness/clients/state.ts'
import type { GlobalState, ResolvedSystem } from '../../harness/config/config.ts'
import { noDetails } from '../../harness/execution/end-step.ts'
import type { Look } from '../../harness/timed/look.ts'
import type { Happened } from '../../harness/timed/measurements.ts'
import { createTrace } from '../traces/record.ts'
import { type Recordable, StepReader } from '../traces/step-reader.ts'
import type { RunSummary } from './summary.ts'

/** The trace of a native run: a step for each event, and for each look that saw something new. */
export class NativeTrace {
  readonly #writer: TraceWriter
  readonly #reader: StepReader
  readonly #source = new NativeSource()
  readonly #nodes: readonly string[]
  #state: GlobalState
  #seenAtMs = 0

  /** @throws UsageError if the trace cannot be written */
  constructor(path: string, header: TraceHeader, properties: ResolvedSystem['properties'], keepMs?: number) {
    this.#nodes = header.nodes.map(({ name }) => name)
    const output = { stdout: '', stderr: '' }
    this.#state = stateOf(
      this.#nodes.map(name => ({ name, alive: false, state: undefined, output })),
      [],
      [],
    )
    this.#reader = new StepReader(this.#source, properties)
    this.#writer = createTrace(path, header, { keepMs })
    this.#writer.step(this.#reader.read(undefined, [], this.#state))
  }

  happened(happened: Happened): void {
    const { atMs, label, node, isCrash } = happened
    const choice = this.#choice(happened.step, node, atMs, label)
    const findings = isCrash ? [{ kind: 'crash' as const, node: node!, message: label }] : []
    this.#source.take([], 0)
    this.#writer.step({ ...this.#reader.read(choice, findings, this.#state), atMs })
  }

  looked({ state, outputs }: Look, atMs: number): void {
    this.#state = state
    this.#source.take(outputs, atMs - this.#seenAtMs)
    this.#seenAtMs = atMs
    const step = this.#reader.read(undefined, [], state)
    if (isEmpty(step)) return this.#reader.takeBack()
    const node = step.states[0]?.node ?? step.outputs[0]?.node
    this.#writer.step({ ...step, atMs, choice: this.#choice('timer', node, atMs, 'look') })
  }

  end(summary: Omit<RunSummary, 'trace' | 'plot' | 'series'>): void {
    const { verdict, property, kind, message, seconds, seed } = summary
    this.#writer.end({ verdict: { verdict, property, kind, message, seconds, seed, repeated: false } })
    this.#writer.close()
  }

  #choice(kind: ChoiceKind, node: string | undefined, atMs: number, label: string): RecordedChoice {
    return { kind, node: node ?? this.#nodes[0]!, label: `${(atMs / 1000).toFixed(2)} s ${label}` }
  }
}

/** What a native run knows about a step. */
class NativeSource implements Recordable {
  details: Recordable['details'] = noDetails
  readonly clocks = []
  readonly timers = []

  take(outputs: Look['outputs'], tookMs: number): void {
    this.details = { ...noDetails, outputs, durationUs: Math.round(1000 * tookMs) }
  }

  fingerprint(): undefined {
    return undefined
  }

  enabled(): readonly Choice[] {
    return []
  }
}

const isEmpty = ({ states, outputs, operations, properties }: RecordedStep) =>
  states.length + outputs.length + operations.length + properties.length === 0
