import type { Host } from './hosts.ts'
import { libc } from './libc.ts'

const poll = libc.func('int poll(void *entries, unsigned long count, int timeoutMs)')

/** struct pollfd: a descriptor, what to look for, what was found. */
const entryLength = 8
const [soughtAt, foundAt] = [4, 6]
const POLLIN = 1
/** The kernel ignores it. */
const noDescriptor = -1

/** The hosts of a network that are up. It has to be made anew when one comes or goes. */
export class UpHosts {
  readonly #hosts: readonly Host[]
  readonly #entries: Buffer

  constructor(hosts: Iterable<Host>) {
    this.#hosts = [...hosts].filter(({ link }) => link !== undefined)
    this.#entries = Buffer.alloc(entryLength * this.#hosts.length)
    for (const [index, { link }] of this.#hosts.entries()) {
      this.#entries.writeInt32LE(link!.descriptor ?? noDescriptor, entryLength * index)
      this.#entries.writeInt16LE(POLLIN, entryLength * index + soughtAt)
    }
  }

  /**
   * Those that may have sent something, in the order in which they were added. The kernel is asked once for all: most of
   * many hosts have sent nothing, and reading from each would take longer than everything else in a step.
   */
  talking(): readonly Host[] {
    const wasInterrupted = poll(this.#entries, this.#hosts.length, 0) < 0
    return wasInterrupted ? this.#hosts : this.#hosts.filter((host, index) => this.#hasSent(host, index))
  }

  #hasSent({ link }: Host, index: number): boolean {
    return link?.descriptor === undefined || this.#entries.readInt16LE(entryLength * index + foundAt) !== 0
  }
}
