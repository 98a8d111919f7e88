import { enabledAfter } from '../../checker/trace/enabled.ts'
import type { RecordedChoice, RecordedStep, Trace } from '../../checker/trace/trace.ts'
import { type Call, callsOf } from './calls.ts'
import { type ChangedField, changedFields } from './changes.ts'
import { isMadeBy, type Journey, journeysOf, takenBy } from './journeys.ts'
import { type OutageSpan, outagesOf, type PartitionSpan, partitionsOf } from './outages.ts'

/** A value that holds from a step until the next entry. */
interface Since<Value> {
  readonly step: number
  readonly value: Value
}

/**
 * The states, values and messages of a recorded execution at each step. A trace records for each step only what
 * changed.
 */
export class ShownExecution {
  readonly trace: Trace
  readonly steps: readonly RecordedStep[]
  readonly nodes: readonly string[]
  readonly journeys: readonly Journey[]
  readonly outages: readonly OutageSpan[]
  readonly partitions: readonly PartitionSpan[]
  readonly calls: readonly Call[]
  /** Whether the trace was recorded with virtual time, so that each step has a time. */
  readonly tellsTime: boolean
  /** Whether the trace records which choices were enabled. */
  readonly tellsEnabled: boolean
  /** Index of the last step of which only an outline is kept; -1 if all are kept as a whole. */
  readonly outlinedTo: number
  readonly #byLabel: ReadonlyMap<string, Journey>
  readonly #byEnd: ReadonlyMap<number, readonly Journey[]>
  readonly #taking: ReadonlyMap<string, readonly RecordedStep[]>
  readonly #states = new Map<string, Since<unknown>[]>()
  readonly #clocks = new Map<string, Since<number>[]>()
  readonly #timers = new Map<string, Since<readonly number[]>[]>()
  readonly #values = new Map<string, Since<boolean>[]>()
  readonly #enabled: (readonly RecordedChoice[])[] = []

  constructor(trace: Trace) {
    const { header, steps } = trace
    this.trace = trace
    this.steps = steps
    // Some may have been added while it ran.
    const nodes = new Set(header.nodes.map(({ name }) => name))
    for (const { states } of steps) for (const { node } of states) nodes.add(node)
    this.nodes = [...nodes]
    this.journeys = journeysOf(steps)
    this.outages = outagesOf(steps)
    this.partitions = partitionsOf(steps)
    this.calls = callsOf(steps)
    this.tellsTime = steps.some(({ atMs }) => atMs !== undefined)
    this.tellsEnabled = steps.some(({ offered }) => offered.length > 0)
    this.outlinedTo = steps.findLastIndex(({ keeps }) => keeps !== undefined)
    this.#byLabel = new Map(this.journeys.map(journey => [journey.message.label, journey]))
    this.#byEnd = groupBy(this.journeys, ({ endedAt }) => (endedAt === undefined ? [] : [endedAt]))
    this.#taking = groupBy(steps, ({ choice }) => (choice ? [choice.label, ...takenBy(choice)] : []))
    for (const { index, states, clocks, timers, properties } of steps) {
      for (const { node, state } of states) append(this.#states, node, index, state)
      for (const { node, elapsedMs } of clocks) append(this.#clocks, node, index, elapsedMs)
      for (const { node, deadlinesMs } of timers) append(this.#timers, node, index, deadlinesMs)
      for (const { name, holds } of properties) append(this.#values, name, index, holds)
    }
  }

  /** Index of the last step. */
  get end(): number {
    return this.steps.length - 1
  }

  /** Time of a step in milliseconds since the start; `undefined` if the trace has no times. */
  timeOf(step: number): number | undefined {
    return this.steps[step]?.atMs ?? (this.tellsTime ? 0 : undefined)
  }

  /** Time between two steps in milliseconds; `undefined` if the trace has no times. */
  timeBetween(one: number, other: number): number | undefined {
    const [from, to] = [this.timeOf(one), this.timeOf(other)]
    return from === undefined || to === undefined ? undefined : to - from
  }

  /** The observed state of a node after a step; `undefined` if nothing was observed. */
  stateAfter(node: string, step: number): unknown {
    return at(this.#states.get(node), step)
  }

  /** A node's virtual clock after a step, in ms; `undefined` if the trace does not record it. */
  clockAfter(node: string, step: number): number | undefined {
    return at(this.#clocks.get(node), step)
  }

  /** A node's pending timers after a step: the time of its clock until each is due, the earliest first, in ms. */
  timersAfter(node: string, step: number): readonly number[] {
    return at(this.#timers.get(node), step) ?? []
  }

  /** Whether a property holds after a step. */
  holdsAfter(property: string, step: number): boolean | undefined {
    return at(this.#values.get(property), step)
  }

  isDownAfter(node: string, step: number): boolean {
    return this.outages.some(outage => outage.node === node && outage.from <= step && step < (outage.to ?? Infinity))
  }

  /** The journey of the message with this label. */
  journey(label: string): Journey | undefined {
    return this.#byLabel.get(label)
  }

  /** Messages that were delivered, dropped or lost in a step. */
  journeysEndedAt(step: number): readonly Journey[] {
    return this.#byEnd.get(step) ?? []
  }

  journeysSentAt(step: number): readonly Journey[] {
    return this.steps[step]!.messages.flatMap(({ label }) => this.journey(label) ?? [])
  }

  /** The first step, at `from` or later, that takes this choice, alone or in an overlap. */
  stepTaking(label: string, from = 0): number | undefined {
    return this.#taking.get(label)?.find(({ index }) => index >= from)?.index
  }

  /** Fields of node states that a step changed. */
  changesIn(step: number): readonly (ChangedField & { readonly node: string })[] {
    return this.steps[step]!.states.flatMap(({ node, state }) =>
      changedFields(this.stateAfter(node, step - 1), state).map(field => ({ node, ...field })),
    )
  }

  /** The choices that were enabled when a step was chosen. */
  enabledBefore(step: number): readonly RecordedChoice[] {
    if (step === 0) return []
    // Built on demand from the latest list known, because few steps are ever looked at.
    for (let index = this.#enabled.length; index < step; index += 1)
      this.#enabled[index] = enabledAfter(this.#enabled[index - 1] ?? [], this.steps[index]!)
    return this.#enabled[step - 1]!
  }

  /** Nodes that a step ran or changed, judged by its choice, states, outputs and messages. */
  nodesTouchedBy(step: number): readonly string[] {
    const { choice, states, outputs, messages } = this.steps[step]!
    const touched = new Set([...states, ...outputs].map(({ node }) => node))
    if (!isMadeBy(choice)) for (const { from } of messages) touched.add(from)
    if (choice) touched.add(choice.node)
    return this.nodes.filter(name => touched.has(name))
  }
}

const append = <Value>(all: Map<string, Since<Value>[]>, name: string, step: number, value: Value) => {
  const list = all.get(name)
  if (list) list.push({ step, value })
  else all.set(name, [{ step, value }])
}

/** The value of the last entry up to a step. A binary search, because executions are long. */
const at = <Value>(list: readonly Since<Value>[] | undefined, step: number): Value | undefined => {
  let [low, high] = [0, list?.length ?? 0]
  while (low < high) {
    const middle = (low + high) >> 1
    if (list![middle]!.step <= step) low = middle + 1
    else high = middle
  }
  return list?.[low - 1]?.value
}

const groupBy = <Item, Key>(items: readonly Item[], keysOf: (item: Item) => readonly Key[]) => {
  const groups = new Map<Key, Item[]>()
  for (const item of items)
    for (const key of new Set(keysOf(item))) {
      const group = groups.get(key)
      if (group) group.push(item)
      else groups.set(key, [item])
    }
  return groups
}
