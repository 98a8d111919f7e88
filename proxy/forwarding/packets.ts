import FlatQueue from 'flatqueue'
import type { Passage } from './path.ts'

/** Slot size in bytes: most packets fit, with their header. Larger packets need a buffer of their own. */
const smallLength = 2048
const largeLength = 1 << 17

/** Passes a packet on to a pipe of its passage. */
export type Pass = (bytes: Buffer, length: number, passage: Passage, stage: number, at: number, now: number) => void

/** Packets that wait, each in a slot that is reused, so that nothing is allocated for a packet. */
export class Packets {
  readonly #buffers: Buffer[] = []
  readonly #lengths: number[] = []
  readonly #passages: Passage[] = []
  readonly #stages: number[] = []
  readonly #freeSmall: number[] = []
  readonly #freeLarge: number[] = []
  readonly #queue = new FlatQueue()

  /** @param stage the pipe of its passage that it enters next */
  keep(bytes: Buffer, length: number, passage: Passage, stage: number, until: number): void {
    const slot = (length <= smallLength ? this.#freeSmall : this.#freeLarge).pop() ?? this.#newSlot(length)
    bytes.copy(this.#buffers[slot]!, 0, 0, length)
    this.#lengths[slot] = length
    this.#passages[slot] = passage
    this.#stages[slot] = stage
    this.#queue.push(slot, until)
  }

  /** When the first waiting packet is due; Infinity if none waits. */
  get due(): number {
    return this.#queue.peekValue() ?? Number.POSITIVE_INFINITY
  }

  /** Passes on the first waiting packet. Its bytes may be used only until the function returns. */
  next(pass: Pass, now: number): void {
    const at = this.due
    const slot = this.#queue.pop()!
    const length = this.#lengths[slot]!
    pass(this.#buffers[slot]!, length, this.#passages[slot]!, this.#stages[slot]!, at, now)
    if (length <= smallLength) this.#freeSmall.push(slot)
    else this.#freeLarge.push(slot)
  }

  #newSlot(length: number): number {
    this.#buffers.push(Buffer.allocUnsafeSlow(length <= smallLength ? smallLength : largeLength))
    return this.#buffers.length - 1
  }
}
