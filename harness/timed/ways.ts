import type { Kind } from '../../proxy/forwarding/counters.ts'
import { lost, overflowed, PacketPipe, type PipeSettings } from '../../proxy/forwarding/pipe.ts'
import type { PipeChange } from '../../proxy/forwarding/plan.ts'
import type { PassageEnd } from '../../proxy/routers.ts'
import { type SeededRandom, seededRandom } from '../../topologies/random.ts'
import type { Agenda, Entry } from './agenda.ts'
import type { Copied, Copies } from './copies.ts'
import type { Timing } from './timing.ts'

/** How many packets came through, and how many failed to, by reason. */
export type PacketCounts = Record<Kind, number>

export const noPackets: Readonly<PacketCounts> = {
  forwarded: 0,
  bytes: 0,
  lost: 0,
  overflowed: 0,
  cut: 0,
  unroutable: 0,
}

/** Is told what becomes of a packet. */
export interface Awaiting extends Copied {
  arrived(atMs: number): void
  wasLost(atMs: number): void
}

/** One way of a connection: carries packets. */
export interface Carrier extends Copied {
  carry(atMs: number, bytes: number, awaiting: Awaiting): void
}

/** The ways between nodes as the pipes that packets pass one after another, in virtual time. Times are milliseconds. */
export class Ways implements Copied {
  readonly counts: PacketCounts = { ...noPackets }
  /** By pipe of the wiring, the bytes that it carried. */
  readonly carried: Float64Array
  readonly #agenda: Agenda
  readonly #all: readonly PacketPipe[]
  /** By `from→to`. */
  readonly #pipes = new Map<string, readonly PacketPipe[]>()
  /** By `from→to`: from each router on the way, the pipe to the hop before. */
  readonly #back = new Map<string, readonly PacketPipe[]>()
  readonly #extra = new Map<string, PacketPipe>()
  readonly #random: SeededRandom

  readonly #wiring: Timing['wiring']
  readonly #names: readonly string[]

  /**
   * @param names of the nodes, in their order
   *
   * @param of another one of the same wiring: its random numbers and pipes at present
   */
  constructor(
    wiring: Timing['wiring'],
    names: readonly string[],
    agenda: Agenda,
    of?: { readonly random: SeededRandom; readonly pipes: readonly PacketPipe[]; readonly carried: Float64Array },
  ) {
    const { pipes, routes, hops, seed } = wiring
    this.#wiring = wiring
    this.#names = names
    this.#agenda = agenda
    this.#random = of?.random ?? seededRandom(seed)
    this.carried = of?.carried ?? new Float64Array(pipes.length)
    this.#all = of?.pipes ?? pipes.map((settings, index) => new PacketPipe(settings, this.#random, this.carried, index))
    for (const [index, route] of routes.entries()) {
      const key = keyOf(names[route.from]!, names[route.to]!)
      const numbered = (pipe: number) => this.#all[pipe]!
      this.#pipes.set(key, route.pipes.map(numbered))
      const back = hops?.[index]?.flatMap(hop => hop.back ?? []) ?? []
      this.#back.set(key, back.map(numbered))
    }
  }

  copy(copies: Copies): Ways {
    const random = this.#random.copy()
    const carried = this.carried.slice()
    const copyOf = (pipe: PacketPipe) => copies.note(pipe, pipe.copy(random, carried))
    const pipes = this.#all.map(copyOf)
    const made = new Ways(this.#wiring, this.#names, copies.of(this.#agenda), { random, pipes, carried })
    Object.assign(made.counts, this.counts)
    for (const [key, pipe] of this.#extra) made.#extra.set(key, copies.note(pipe, pipe.copy(random)))
    return copies.note(this, made)
  }

  /** Changes settings of pipes from now on. */
  change(changes: readonly PipeChange[], atMs: number): void {
    for (const { pipe, settings } of changes) this.#all[pipe]!.change(settings, atMs)
  }

  /** Puts one more pipe on a way, before the others; undefined removes it. */
  lay(from: string, to: string, settings: PipeSettings | undefined): void {
    const key = keyOf(from, to)
    if (settings === undefined) this.#extra.delete(key)
    else this.#extra.set(key, new PacketPipe(settings, this.#random))
  }

  /**
   * Sends a packet. A packet enters each pipe when it leaves the previous one: packets of several ways queue in a pipe
   * that they share.
   */
  carry(from: string, to: string, atMs: number, bytes: number, awaiting: Awaiting): void {
    this.begin(this.#along(from, to), atMs, bytes, awaiting)
  }

  /** One way of a connection. */
  carrier(from: string, to: string): Carrier {
    return new OneWay(this, from, to)
  }

  /** Carries a packet to the router at which it ends, and the router's answer, which quotes its headers, back. */
  turn(from: string, { towards, hop, bytes }: PassageEnd, atMs: number, headerBytes: number, awaiting: Awaiting): void {
    const key = keyOf(from, towards)
    const there = this.#along(from, towards)
    const stage = there.length - this.#pipes.get(key)!.length + hop
    const back = this.#back.get(key)!.slice(0, hop).reverse()
    this.begin(there.slice(0, stage), atMs, bytes + headerBytes, new Turn(this, back, 2 * headerBytes, awaiting))
  }

  /** Sends a packet through these pipes. */
  begin(pipes: readonly PacketPipe[], atMs: number, bytes: number, awaiting: Awaiting): void {
    this.goOn(new Passage(this, pipes, bytes, awaiting), atMs)
  }

  /** Propagation delay of the whole way. */
  delayMs(from: string, to: string): number {
    return this.#along(from, to).reduce((sum, { settings }) => sum + settings.delayMs, 0)
  }

  /** Lets a packet enter the next pipe on its way. */
  goOn(passage: Passage, atMs: number): void {
    const { bytes, awaiting } = passage
    const pipe = passage.next()
    if (pipe === undefined) {
      this.counts.forwarded += 1
      this.counts.bytes += bytes
      return awaiting.arrived(atMs)
    }
    const out = pipe.enter(atMs, bytes)
    // The receiver of a packet with a flipped bit finds a wrong checksum and drops it.
    const isLost = out === lost || (out !== overflowed && pipe.corruptedBit(bytes * 8) !== undefined)
    if (isLost || out === overflowed) {
      this.counts[isLost ? 'lost' : 'overflowed'] += 1
      return awaiting.wasLost(atMs)
    }
    this.#agenda.at(out, passage)
  }

  #along(from: string, to: string): readonly PacketPipe[] {
    const key = keyOf(from, to)
    const extra = this.#extra.get(key)
    const pipes = this.#pipes.get(key) ?? []
    return extra ? [extra, ...pipes] : pipes
  }
}

/** A packet on its way. */
class Passage implements Entry {
  readonly bytes: number
  readonly awaiting: Awaiting
  readonly #ways: Ways
  readonly #pipes: readonly PacketPipe[]
  #stage = 0

  constructor(ways: Ways, pipes: readonly PacketPipe[], bytes: number, awaiting: Awaiting) {
    this.#ways = ways
    this.#pipes = pipes
    this.bytes = bytes
    this.awaiting = awaiting
  }

  copy(copies: Copies): Passage {
    const ways = copies.of(this.#ways)
    const left = this.#pipes.slice(this.#stage).map(pipe => copies.noted(pipe))
    return new Passage(ways, left, this.bytes, copies.of(this.awaiting))
  }

  /** The next pipe on the way; undefined at its end. */
  next(): PacketPipe | undefined {
    return this.#pipes[this.#stage++]
  }

  do(atMs: number): void {
    this.#ways.goOn(this, atMs)
  }
}

class OneWay implements Carrier {
  readonly #ways: Ways
  readonly #from: string
  readonly #to: string

  constructor(ways: Ways, from: string, to: string) {
    this.#ways = ways
    this.#from = from
    this.#to = to
  }

  copy(copies: Copies): OneWay {
    return new OneWay(copies.of(this.#ways), this.#from, this.#to)
  }

  carry(atMs: number, bytes: number, awaiting: Awaiting): void {
    this.#ways.carry(this.#from, this.#to, atMs, bytes, awaiting)
  }
}

/** The router at which a packet ends: it sends an answer back. */
class Turn implements Awaiting {
  readonly #ways: Ways
  readonly #back: readonly PacketPipe[]
  readonly #bytes: number
  readonly #awaiting: Awaiting

  constructor(ways: Ways, back: readonly PacketPipe[], bytes: number, awaiting: Awaiting) {
    this.#ways = ways
    this.#back = back
    this.#bytes = bytes
    this.#awaiting = awaiting
  }

  copy(copies: Copies): Turn {
    const ways = copies.of(this.#ways)
    const back = this.#back.map(pipe => copies.noted(pipe))
    return new Turn(ways, back, this.#bytes, copies.of(this.#awaiting))
  }

  arrived(atMs: number): void {
    this.#ways.begin(this.#back, atMs, this.#bytes, this.#awaiting)
  }

  wasLost(atMs: number): void {
    this.#awaiting.wasLost(atMs)
  }
}

const keyOf = (from: string, to: string): string => `${from}→${to}`
