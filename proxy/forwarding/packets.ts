import FlatQueue from 'flatqueue'
import type { Path } from './path.ts'

/** What most packets fit into, with their header. */
const smallLength = 2048
const largeLength = 1 << 17

/** Takes a packet on from a stage of its path, at which it was then. */
export type Pass = (bytes: Buffer, length: number, path: Path, stage: number, at: number, now: number) => void

/** Packets that wait, each in a slot that is used again: nothing is allocated for a packet. */
export class Packets {
  readonly #buffers: Buffer[] = []
  readonly #lengths: number[] = []
  readonly #paths: Path[] = []
  readonly #stages: number[] = []
  readonly #freeSmall: number[] = []
  readonly #freeLarge: number[] = []
  readonly #queue = new FlatQueue()

  /** @param stage the pipe of its path that it enters then */
  keep(bytes: Buffer, length: number, path: Path, stage: number, until: number): void {
    const slot = (length <= smallLength ? this.#freeSmall : this.#freeLarge).pop() ?? this.#newSlot(length)
    bytes.copy(this.#buffers[slot]!, 0, 0, length)
    this.#lengths[slot] = length
    this.#paths[slot] = path
    this.#stages[slot] = stage
    this.#queue.push(slot, until)
  }

  /** When the first that waits goes on; Infinity where none waits. */
  get due(): number {
    return this.#queue.peekValue() ?? Number.POSITIVE_INFINITY
  }

  /** Hands out the first that waits; its bytes may be used until the function returns. */
  next(pass: Pass, now: number): void {
    const at = this.due
    const slot = this.#queue.pop()!
    const length = this.#lengths[slot]!
    pass(this.#buffers[slot]!, length, this.#paths[slot]!, this.#stages[slot]!, at, now)
    if (length <= smallLength) this.#freeSmall.push(slot)
    else this.#freeLarge.push(slot)
  }

  #newSlot(length: number): number {
    this.#buffers.push(Buffer.allocUnsafeSlow(length <= smallLength ? smallLength : largeLength))
    return this.#buffers.length - 1
  }
}
