import type { Choice, Step } from '../../../checker/system/system.ts'
import { Model } from './model.ts'

/** Milliseconds by node. */
type Clocks = ReadonlyMap<string, number>

/** A system in memory whose nodes have clocks, which their timers advance. It says how long messages are in flight, and can bound that. */
export class Clocked<State> extends Model<State> {
  #clocks: Clocks = new Map()
  /** By label of a message that can be delivered: what the clocks showed when it could first. */
  #sent: ReadonlyMap<string, Clocks> = new Map()
  #delayMsMax = Number.POSITIVE_INFINITY

  setDelayMsMax(milliseconds: number) {
    this.#delayMsMax = milliseconds
  }

  override async reset() {
    await super.reset()
    this.#clocks = new Map()
    this.#sent = new Map()
    this.#noteSent()
    return []
  }

  override enabled(): Choice[] {
    return super.enabled().filter(choice => this.#delayMs(choice) <= this.#delayMsMax)
  }

  override async execute(choice: Choice): Promise<Step & { findings: readonly [] }> {
    const delayMs = this.#delayMs(choice)
    await super.execute(choice)
    if (choice.kind === 'timer')
      this.#clocks = new Map(this.#clocks).set(choice.node, this.#clock(choice.node) + choice.afterMs!)
    this.#noteSent()
    return { choice, findings: [], delayMs }
  }

  #clock(node: string, clocks = this.#clocks): number {
    return clocks.get(node) ?? 0
  }

  /** How long messages will have been in flight when this timer has fired. */
  #delayMs({ kind, node, afterMs }: Choice): number {
    if (kind !== 'timer') return 0
    const then = this.#clock(node) + afterMs!
    return Math.max(0, ...[...this.#sent.values()].map(clocks => then - this.#clock(node, clocks)))
  }

  #noteSent(): void {
    const messages = super.enabled().filter(({ kind }) => kind === 'deliver')
    this.#sent = new Map(messages.map(({ label }) => [label, this.#sent.get(label) ?? this.#clocks]))
  }
}
