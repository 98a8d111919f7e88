import { libc, requireSuccess, untilDone } from './libc.ts'

const poll = libc.func('int poll(void *entries, unsigned long count, int timeoutMs)')

/** struct pollfd: a descriptor, what to look for, what was found. */
const entryLength = 8
const [soughtAt, foundAt] = [4, 6]
const POLLIN = 1
/** The kernel ignores it. */
const noDescriptor = -1

/** Descriptors of which the kernel is asked at once which can be read. */
export class Readable {
  readonly #entries: Buffer

  /** @param descriptors undefined for those that are never readable */
  constructor(descriptors: readonly (number | undefined)[]) {
    this.#entries = Buffer.alloc(entryLength * descriptors.length)
    for (const [index, descriptor] of descriptors.entries()) {
      this.#entries.writeInt32LE(descriptor ?? noDescriptor, entryLength * index)
      this.#entries.writeInt16LE(POLLIN, entryLength * index + soughtAt)
    }
  }

  /** Asks, without waiting: how many can be read now. */
  count(): number {
    return requireSuccess(
      'poll',
      untilDone(() => poll(this.#entries, this.#entries.length / entryLength, 0)),
    )
  }

  /** Whether the descriptor at this place could be read when the kernel was last asked. */
  was(index: number): boolean {
    return this.#entries.readInt16LE(entryLength * index + foundAt) !== 0
  }
}
