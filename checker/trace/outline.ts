import { enabledAfter } from './enabled.ts'
import { restartedAtOnce } from './restarts.ts'
import type { RecordedChoice, RecordedOutput, RecordedState, RecordedStep } from './trace.ts'

/** What a replay and the run's own summary need of a step, without what was sent, written and seen in it. */
export const outlineOf = (step: RecordedStep): RecordedStep => ({
  ...step,
  keeps: 'choice',
  messages: [],
  lost: [],
  clocks: [],
  timers: [],
  states: [],
  outputs: [],
  fingerprint: undefined,
  offered: [],
  withdrawn: [],
})

/** Bytes of output of a node since its start, counted from the end, that an outline keeps. */
const outputMax = 1 << 18

/** Everything known after a step, gathered from the steps so far, each of which has only what changed. */
export class KnownState {
  readonly #states = new Map<string, RecordedState>()
  readonly #timers = new Map<string, RecordedStep['timers'][number]>()
  readonly #clocks = new Map<string, RecordedStep['clocks'][number]>()
  readonly #alive = new Map<string, boolean>()
  /** By node and stream, what the node has written since it was started. */
  readonly #written = new Map<string, Map<RecordedOutput['stream'], Written>>()
  #enabled: readonly RecordedChoice[] = []

  /** Must be called with each step in order. */
  see(step: RecordedStep): void {
    for (const state of step.states) this.#states.set(state.node, state)
    for (const timers of step.timers) this.#timers.set(timers.node, timers)
    for (const clock of step.clocks) this.#clocks.set(clock.node, clock)
    const again = step.choice && restartedAtOnce(step.choice)
    if (again !== undefined) this.#written.delete(again)
    for (const { node, isAlive, keepsOutput } of step.lives ?? []) {
      this.#alive.set(node, isAlive)
      if (!keepsOutput) this.#written.delete(node)
    }
    for (const output of step.outputs) this.#write(output)
    this.#enabled = enabledAfter(this.#enabled, step)
  }

  /** The outline of the latest step, with everything known after it. */
  outlineOf(step: RecordedStep): RecordedStep {
    return {
      ...outlineOf(step),
      keeps: 'state',
      states: [...this.#states.values()],
      timers: [...this.#timers.values()],
      clocks: [...this.#clocks.values()],
      lives: [...this.#alive].map(([node, isAlive]) => ({ node, isAlive, keepsOutput: false })),
      outputs: [...this.#written].flatMap(([node, streams]) =>
        [...streams].map(([stream, { parts }]) => ({ node, stream, bytes: Buffer.concat(parts) })),
      ),
      offered: this.#enabled,
    }
  }

  /** Parts are joined once much was written, and not each time: a busy node writes in each step. */
  #write({ node, stream, bytes }: RecordedOutput): void {
    const streams = this.#written.get(node) ?? new Map<RecordedOutput['stream'], Written>()
    const { parts, length } = streams.get(stream) ?? { parts: [], length: 0 }
    parts.push(bytes)
    const isMuch = length + bytes.length > 2 * outputMax
    const kept = isMuch ? [Buffer.concat(parts).subarray(-outputMax)] : parts
    streams.set(stream, { parts: kept, length: isMuch ? outputMax : length + bytes.length })
    this.#written.set(node, streams)
  }
}

interface Written {
  readonly parts: Uint8Array[]
  /** Of all parts, in bytes. */
  readonly length: number
}
