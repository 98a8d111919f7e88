import { KnownState, outlineOf } from './outline.ts'
import type { RecordedStep } from './trace.ts'

/** A block of the file with steps as a whole, and what takes its place once it is old. */
export interface WholeBlock {
  /** Offset in the file. */
  byte: number
  readonly length: number
  /** Time of its first and its last step. */
  readonly fromMs: number
  readonly untilMs: number
  readonly outline: Buffer
  /** Everything known after its last step. */
  readonly known: Buffer
}

/** How records are stored. */
interface Packing {
  steps(steps: readonly RecordedStep[]): Buffer
  known(step: RecordedStep): Buffer
}

/** Which steps of a long run are kept as a whole, and the outlines of those that no longer will be. */
export class Outlines {
  readonly #keepMs: number
  readonly #packing: Packing
  readonly #known = new KnownState()
  #steps: RecordedStep[] = []
  #blocks: WholeBlock[] = []

  /** @param keepMs steps of at least this time are kept as a whole, and of at most twice as long */
  constructor(keepMs: number, packing: Packing) {
    this.#keepMs = keepMs
    this.#packing = packing
  }

  see(step: RecordedStep): void {
    this.#known.see(step)
    this.#steps.push(step)
  }

  /** The steps seen since the last call are a block of the file. */
  endBlock(byte: number, length: number): void {
    const [first, last] = [this.#steps[0]!, this.#steps.at(-1)!]
    this.#blocks.push({
      ...{ byte, length, fromMs: first.atMs ?? 0, untilMs: last.atMs ?? 0 },
      outline: this.#packing.steps(this.#steps.map(outlineOf)),
      known: this.#packing.known(this.#known.outlineOf(last)),
    })
    this.#steps = []
  }

  /** Removes the blocks that are old, once that is worth writing the file anew. */
  takeOld(): WholeBlock[] {
    const nowMs = this.#blocks.at(-1)?.untilMs ?? 0
    if (this.#blocks.length === 0 || nowMs - this.#blocks[0]!.fromMs <= 2 * this.#keepMs) return []
    const recent = this.#blocks.findIndex(({ untilMs }) => untilMs > nowMs - this.#keepMs)
    return this.#blocks.splice(0, recent)
  }

  /** The file was written anew: records that are kept as a whole lie this many bytes further on. */
  move(bytes: number): void {
    for (const block of this.#blocks) block.byte += bytes
  }
}
