import type { ExecutionObserver } from '../../checker/cells/executor.ts'
import type { Operation } from '../../checker/history/operation.ts'
import { Carried } from '../../checker/system/carried.ts'
import { decided, evaluate } from '../../checker/system/property.ts'
import type { Finding } from '../../checker/system/system.ts'
import { enabledAfter, enabledChanges, recordedChoice } from '../../checker/trace/enabled.ts'
import { ChangedTimers } from '../../checker/trace/timers.ts'
import type {
  PropertyValue,
  RecordedCall,
  RecordedChoice,
  RecordedClock,
  RecordedState,
  RecordedStep,
} from '../../checker/trace/trace.ts'
import type { Cluster } from '../../harness/cluster.ts'
import type { GlobalState, ResolvedSystem } from '../../harness/config/config.ts'

/** The details of a step that a trace keeps, read from the cluster. */
export type Recordable = Pick<Cluster, 'details' | 'clocks' | 'timers' | 'fingerprint' | 'enabled'>

/** Turns the steps of a cluster into the steps of a trace. */
export class StepReader {
  readonly #cluster: Recordable
  readonly #properties: ResolvedSystem['properties']
  /** The nodes as they were seen last. Most of many do nothing in a step, and then are the same objects. */
  #seenNodes: GlobalState['nodes'] = []
  /** By node, the state that was seen last, as JSON. */
  readonly #states = new Map<string, string>()
  readonly #lives = new Map<string, boolean>()
  readonly #values = new Map<string, boolean>()
  #carried: Carried<GlobalState>
  /** Outcomes of operations, by the time of invocation. */
  readonly #outcomes = new Map<number, Operation['outcome']>()
  #seenHistory: GlobalState['history'] = []
  /** By index, the calls that were recorded, and whether their end was. */
  readonly #calls = new Map<number, boolean>()
  /** How many calls, counted from the first, have ended. */
  #callsOver = 0
  #seenCalls: GlobalState['calls'] = []
  readonly #clocks = new Map<string, number>()
  #timers = new ChangedTimers()
  #enabled: readonly RecordedChoice[] = []
  #index = 0

  constructor(cluster: Recordable, properties: ResolvedSystem['properties']) {
    this.#cluster = cluster
    this.#properties = properties
    this.#carried = new Carried(properties)
  }

  /** A reader that continues from the same step, of this execution or of one that was restored to it. */
  copy(): StepReader {
    const copy = new StepReader(this.#cluster, this.#properties)
    copy.#seenNodes = this.#seenNodes
    copyInto(copy.#states, this.#states)
    copyInto(copy.#lives, this.#lives)
    copyInto(copy.#values, this.#values)
    copyInto(copy.#outcomes, this.#outcomes)
    copyInto(copy.#calls, this.#calls)
    copyInto(copy.#clocks, this.#clocks)
    copy.#timers = this.#timers.copy()
    copy.#carried = new Carried(this.#properties, this.#carried.mark())
    copy.#seenHistory = this.#seenHistory
    copy.#seenCalls = this.#seenCalls
    copy.#callsOver = this.#callsOver
    copy.#enabled = this.#enabled
    copy.#index = this.#index
    return copy
  }

  /** By property, whether it holds after the latest step, as far as that could be decided. */
  get values(): ReadonlyMap<string, boolean> {
    return this.#values
  }

  /** An observer that passes on each step of an execution as it happens. */
  observer(see: (step: RecordedStep) => void): ExecutionObserver<GlobalState> {
    return {
      onReset: (findings, state) => see(this.read(undefined, findings, state())),
      onStep: ({ choice, findings }, state) => see(this.read(recordedChoice(choice), findings, state())),
    }
  }

  /** Reads the step that was just executed; the start has no choice. Must be called once for each step, in order. */
  read(choice: RecordedChoice | undefined, findings: readonly Finding[], state: GlobalState): RecordedStep {
    const { messages, lost, outputs, durationUs, started, atMs, input } = this.#cluster.details
    return {
      index: this.#index++,
      choice,
      durationUs,
      ...(started.length > 0 && { started }),
      ...(atMs !== undefined && { atMs }),
      ...(input !== undefined && { input }),
      messages: messages.map(({ from, to, ordinal, label, kind, bytes }) => ({
        from,
        to,
        ordinal,
        label,
        kind,
        bytes,
        length: bytes.length,
      })),
      lost,
      clocks: this.#movedClocks(),
      timers: this.#timers.next(this.#cluster.timers),
      ...this.#changedNodes(state),
      outputs,
      findings,
      operations: this.#changedOperations(state),
      ...this.#changedCalls(state),
      properties: this.#changedValues(state),
      fingerprint: this.#cluster.fingerprint(),
      ...this.#changedChoices(),
    }
  }

  /** Removes the latest step, which contained nothing. */
  takeBack(): void {
    this.#index -= 1
  }

  #movedClocks(): RecordedClock[] {
    return this.#cluster.clocks.filter(({ node, elapsedMs }) => {
      if (this.#clocks.get(node) === elapsedMs) return false
      this.#clocks.set(node, elapsedMs)
      return true
    })
  }

  #changedChoices() {
    const { withdrawn, offered } = enabledChanges(this.#enabled, this.#cluster.enabled())
    const changes = { withdrawn, offered: offered.map(recordedChoice) }
    this.#enabled = enabledAfter(this.#enabled, changes)
    return changes
  }

  #changedNodes({ nodes }: GlobalState): Pick<RecordedStep, 'lives' | 'states'> {
    const changed = nodes.filter((node, index) => node !== this.#seenNodes[index])
    this.#seenNodes = nodes
    return { ...this.#changedLives(changed), states: this.#changedStates(changed) }
  }

  #changedLives(nodes: GlobalState['nodes']): Pick<RecordedStep, 'lives'> {
    const lives: NonNullable<RecordedStep['lives']>[number][] = []
    for (const { name, alive, output } of nodes) {
      if (this.#lives.get(name) === alive) continue
      this.#lives.set(name, alive)
      lives.push({ node: name, isAlive: alive, keepsOutput: !alive && output.stdout + output.stderr !== '' })
    }
    return lives.length > 0 ? { lives } : {}
  }

  #changedStates(nodes: GlobalState['nodes']): RecordedState[] {
    const changed: RecordedState[] = []
    for (const { name, state } of nodes) {
      const text = JSON.stringify(state) ?? ''
      if (this.#states.get(name) === text) continue
      this.#states.set(name, text)
      changed.push({ node: name, state })
    }
    return changed
  }

  #changedOperations({ history }: GlobalState): Operation[] {
    if (history === this.#seenHistory) return []
    this.#seenHistory = history
    return history.filter(({ invoked, outcome }) => {
      if (this.#outcomes.get(invoked) === outcome) return false
      this.#outcomes.set(invoked, outcome)
      return true
    })
  }

  /** Calls end in another order than they begin; those before the first that goes on were all told of. */
  #changedCalls({ calls: all }: GlobalState): Pick<RecordedStep, 'calls'> {
    if (all === this.#seenCalls) return {}
    this.#seenCalls = all
    const calls: RecordedCall[] = []
    for (let index = this.#callsOver; index < all.length; index++) {
      const { client, ordinal, completedAt, value, error } = all[index]!
      const hasEnded = completedAt !== undefined
      if (hasEnded && index === this.#callsOver) this.#callsOver += 1
      if (this.#calls.get(index) === hasEnded) continue
      this.#calls.set(index, hasEnded)
      const came = error === undefined ? shown(value) : { error }
      calls.push({ client, ordinal, hasEnded, ...(hasEnded && came) })
    }
    return calls.length > 0 ? { calls } : {}
  }

  #changedValues(state: GlobalState): PropertyValue[] {
    const where = () => (this.#index === 1 ? 'in the initial state' : `after step ${this.#index - 1}`)
    this.#carried.next(state, where)
    return Object.entries(this.#properties).flatMap(([name, property]) => {
      const holds = decided(() => evaluate(name, property, state, where, this.#carried.of(name)))
      if (holds === undefined || this.#values.get(name) === holds) return []
      this.#values.set(name, holds)
      return [{ name, holds }]
    })
  }
}

const copyInto = <Key, Value>(copy: Map<Key, Value>, all: ReadonlyMap<Key, Value>): void => {
  for (const [key, value] of all) copy.set(key, value)
}

const resultLengthMax = 1000

/** A client may return any value. */
const shown = (value: unknown): { result?: string } => {
  try {
    const text = JSON.stringify(value)
    return text === undefined
      ? {}
      : { result: text.length > resultLengthMax ? `${text.slice(0, resultLengthMax)}…` : text }
  } catch {
    return { result: String(value) }
  }
}
