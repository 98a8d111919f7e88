import { StringDecoder } from 'node:string_decoder'
import type { Operation } from '../../checker/history/operation.ts'
import { Undecided, UsageError } from '../../checker/system/errors.ts'
import { restartedAtOnce } from '../../checker/trace/restarts.ts'
import type { RecordedCall, RecordedStep } from '../../checker/trace/trace.ts'
import { Past } from '../../harness/clients/past.ts'
import { type SeenNode, stateOf } from '../../harness/clients/state.ts'
import type { ClientCall, GlobalState } from '../../harness/config/config.ts'

/** A part of the state, by name: for a node `state n1`, `alive n1`, `output n1`, `past n1`; and `calls`, `history`. */
type Part = string

/**
 * The states of a recorded execution as properties read them, one step after another. A trace records for each step
 * what it changed. Reads of a state's parts are reported.
 */
export class RecordedStates {
  /** The present state; empty before the first step. Later steps do not modify it. */
  state: GlobalState = stateOf([], [], [])
  /** Parts that the latest step changed. */
  changed: ReadonlySet<Part> = new Set()
  /** Called for each part of a state that is read. */
  onRead: (part: Part) => void = () => undefined
  readonly #nodes: Map<string, RecordedNode>
  readonly #past = new Past()
  #calls: readonly ClientCall[] = []
  #history: readonly Operation[] = []

  constructor(nodes: readonly { readonly name: string }[]) {
    this.#nodes = new Map(nodes.map(({ name }) => [name, new RecordedNode(name)]))
  }

  /**
   * Goes on to the next step. Must be called for each step in order.
   *
   * @throws UsageError if the trace does not record enough
   */
  next(step: RecordedStep): void {
    if (step.index === 0 && step.lives === undefined)
      throw new UsageError(
        'the trace, of an older lastnail, does not record which nodes were up: only executing it shows its states',
      )
    const changed = new Set<Part>()
    this.#live(step, changed)
    for (const { node, bytes, stream } of step.outputs) {
      this.#nodes.get(node)?.write(stream, bytes)
      changed.add(`output ${node}`)
    }
    for (const { node, state } of step.states) {
      this.#nodes.get(node)!.state = state
      this.#past.see(node, state, JSON.stringify(state))
      changed.add(`state ${node}`).add(`past ${node}`)
    }
    if (step.calls) {
      this.#calls = step.calls.reduce((calls, call) => withCall(calls, call, step.index), this.#calls)
      changed.add('calls')
    }
    if (step.operations.length > 0) {
      this.#history = withOperations(this.#history, step.operations)
      changed.add('history')
    }
    this.changed = changed
    if (changed.size > 0 || step.index === 0) this.state = this.#view()
  }

  #live({ lives = [], choice }: RecordedStep, changed: Set<Part>): void {
    const again = choice && restartedAtOnce(choice)
    if (again !== undefined) {
      this.#nodes.get(again)?.begin()
      changed.add(`output ${again}`)
    }
    for (const { node, isAlive, keepsOutput } of lives) {
      const known = this.#nodes.get(node)!
      if (!keepsOutput) known.begin()
      known.isAlive = isAlive
      changed.add(`alive ${node}`).add(`output ${node}`)
    }
  }

  #view(): GlobalState {
    const read = (part: Part) => this.onRead(part)
    const [calls, history] = [this.#calls, this.#history]
    const nodes = [...this.#nodes.values()]
    const past = new Map(nodes.map(({ name }) => [name, this.#past.of(name)]))
    const { node, nodes: views } = stateOf(
      nodes.map(each => each.view(read)),
      calls,
      history,
      name => {
        read(`past ${name}`)
        return past.get(name)!
      },
    )
    return {
      nodes: views,
      node,
      get calls() {
        read('calls')
        return calls
      },
      get history() {
        read('history')
        return history
      },
    }
  }
}

class RecordedNode {
  readonly name: string
  isAlive = false
  state: unknown
  #output = noOutput()

  constructor(name: string) {
    this.name = name
  }

  /** The node starts or was killed. Its earlier output is gone. */
  begin(): void {
    this.#output = noOutput()
  }

  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    const { decoder, text } = this.#output[stream]
    this.#output = { ...this.#output, [stream]: { decoder, text: text + decoder.write(Buffer.from(bytes)) } }
  }

  view(read: (part: Part) => void): SeenNode {
    const { name, isAlive, state } = this
    const { stdout, stderr } = this.#output
    return {
      name,
      get alive() {
        read(`alive ${name}`)
        return isAlive
      },
      get state() {
        read(`state ${name}`)
        return state
      },
      get output() {
        read(`output ${name}`)
        return { stdout: stdout.text, stderr: stderr.text }
      },
    }
  }
}

const noOutput = () => ({
  stdout: { decoder: new StringDecoder(), text: '' },
  stderr: { decoder: new StringDecoder(), text: '' },
})

/** A call that ended in the step in which it began is recorded once. */
const withCall = (calls: readonly ClientCall[], told: RecordedCall, step: number): readonly ClientCall[] => {
  const { client, ordinal, hasEnded } = told
  const index = calls.findLastIndex(each => each.client === client && each.ordinal === ordinal)
  const call = calls[index] ?? {
    ...{ client, ordinal, invokedAt: step, completedAt: undefined, value: undefined, error: undefined },
  }
  const now = hasEnded ? ended({ ...call, completedAt: step }, told) : call
  return index < 0 ? [...calls, now] : calls.with(index, now)
}

const ended = (call: ClientCall, { result, error }: RecordedCall): ClientCall => {
  const value = result === undefined ? undefined : parsed(result)
  if (value !== cut) return { ...call, value, error }
  return {
    ...call,
    error,
    get value(): never {
      throw new Undecided(`the trace has only the beginning of the result of call ${call.ordinal} of ${call.client}`)
    },
  }
}

const cut = Symbol('cut')

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return cut
  }
}

/** In the order of invocation. An operation that returned replaces its earlier record. */
const withOperations = (history: readonly Operation[], changed: readonly Operation[]): readonly Operation[] => {
  const all = [...history]
  for (const operation of changed) {
    const index = all.findLastIndex(({ invoked }) => invoked === operation.invoked)
    if (index < 0) all.push(operation)
    else all[index] = operation
  }
  return all
}
