import type { Kind } from '../../proxy/forwarding/counters.ts'
import { lost, overflowed, Pipe, type PipeSettings } from '../../proxy/forwarding/pipe.ts'
import { seededRandom } from '../../topologies/random.ts'
import type { Timing } from './timing.ts'

/** Of packets that were sent, how many came through, and what kept others. */
export type PacketCounts = Record<Kind, number>

export const noPackets: Readonly<PacketCounts> = {
  forwarded: 0,
  bytes: 0,
  lost: 0,
  overflowed: 0,
  cut: 0,
  unroutable: 0,
}

/** The ways between nodes as the pipes that packets pass one after the other, in virtual time. Times are milliseconds. */
export class Ways {
  readonly counts: PacketCounts = { ...noPackets }
  /** By `from→to`. */
  readonly #pipes = new Map<string, readonly Pipe[]>()
  readonly #extra = new Map<string, Pipe>()
  readonly #random: () => number

  /** @param names of the nodes, in their order */
  constructor({ pipes, routes, seed }: Timing['wiring'], names: readonly string[]) {
    this.#random = seededRandom(seed)
    const all = pipes.map(settings => new Pipe(settings, this.#random))
    for (const route of routes)
      this.#pipes.set(
        keyOf(names[route.from]!, names[route.to]!),
        route.pipes.map(index => all[index]!),
      )
  }

  /** Lays one more pipe on a way, before the others; undefined takes it away. */
  lay(from: string, to: string, settings: PipeSettings | undefined): void {
    const key = keyOf(from, to)
    if (settings === undefined) this.#extra.delete(key)
    else this.#extra.set(key, new Pipe(settings, this.#random))
  }

  /** When a packet that is sent then arrives; undefined where it never does. */
  pass(from: string, to: string, atMs: number, bytes: number): number | undefined {
    let at = atMs
    for (const pipe of this.#along(from, to)) {
      at = pipe.enter(at, bytes)
      if (at === lost) return this.#loses('lost')
      if (at === overflowed) return this.#loses('overflowed')
      // Whoever receives it sees that its checksum is wrong, and drops it.
      if (pipe.corruptedBit(bytes * 8) !== undefined) return this.#loses('lost')
    }
    this.counts.forwarded += 1
    this.counts.bytes += bytes
    return at
  }

  /** Propagation of the whole way. */
  delayMs(from: string, to: string): number {
    return this.#along(from, to).reduce((sum, { settings }) => sum + settings.delayMs, 0)
  }

  #along(from: string, to: string): readonly Pipe[] {
    const key = keyOf(from, to)
    const extra = this.#extra.get(key)
    const pipes = this.#pipes.get(key) ?? []
    return extra ? [extra, ...pipes] : pipes
  }

  #loses(why: 'lost' | 'overflowed'): undefined {
    this.counts[why] += 1
    return undefined
  }
}

const keyOf = (from: string, to: string): string => `${from}→${to}`
