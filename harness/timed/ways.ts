import type { Kind } from '../../proxy/forwarding/counters.ts'
import { lost, overflowed, Pipe, type PipeSettings } from '../../proxy/forwarding/pipe.ts'
import type { PipeChange } from '../../proxy/forwarding/plan.ts'
import type { PassageEnd } from '../../proxy/routers.ts'
import { seededRandom } from '../../topologies/random.ts'
import type { Agenda } from './agenda.ts'
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

/** Called when a packet arrives, or when it is lost. */
export type Fate = (atMs: number) => void

/** One way of a connection: carries a packet and reports what happens to it. */
export type Carry = (atMs: number, bytes: number, arrived: Fate, wasLost: Fate) => void

/** The ways between nodes as the pipes that packets pass one after another, in virtual time. Times are milliseconds. */
export class Ways {
  readonly counts: PacketCounts = { ...noPackets }
  readonly #agenda: Agenda
  readonly #all: readonly Pipe[]
  /** By `from→to`. */
  readonly #pipes = new Map<string, readonly Pipe[]>()
  /** By `from→to`: from each router on the way, the pipe to the hop before. */
  readonly #back = new Map<string, readonly Pipe[]>()
  readonly #extra = new Map<string, Pipe>()
  readonly #random: () => number

  /** @param names of the nodes, in their order */
  constructor({ pipes, routes, hops, seed }: Timing['wiring'], names: readonly string[], agenda: Agenda) {
    this.#agenda = agenda
    this.#random = seededRandom(seed)
    this.#all = pipes.map(settings => new Pipe(settings, this.#random))
    for (const [index, route] of routes.entries()) {
      const key = keyOf(names[route.from]!, names[route.to]!)
      const numbered = (pipe: number) => this.#all[pipe]!
      this.#pipes.set(key, route.pipes.map(numbered))
      const back = hops?.[index]?.flatMap(hop => hop.back ?? []) ?? []
      this.#back.set(key, back.map(numbered))
    }
  }

  /** Changes settings of pipes from now on. */
  change(changes: readonly PipeChange[], atMs: number): void {
    for (const { pipe, settings } of changes) this.#all[pipe]!.change(settings, atMs)
  }

  /** Puts one more pipe on a way, before the others; undefined removes it. */
  lay(from: string, to: string, settings: PipeSettings | undefined): void {
    const key = keyOf(from, to)
    if (settings === undefined) this.#extra.delete(key)
    else this.#extra.set(key, new Pipe(settings, this.#random))
  }

  /** Sends a packet. It enters each pipe when it leaves the previous one, so packets that share a pipe queue in it. */
  carry(from: string, to: string, atMs: number, bytes: number, arrived: Fate, wasLost: Fate): void {
    this.#goOn(this.#along(from, to), 0, atMs, bytes, arrived, wasLost)
  }

  /** Carries a packet to the router at which it ends, and the router's answer, which quotes its headers, back. */
  turn(
    from: string,
    { towards, hop, bytes }: PassageEnd,
    atMs: number,
    headerBytes: number,
    arrived: Fate,
    wasLost: Fate,
  ): void {
    const key = keyOf(from, towards)
    const there = this.#along(from, towards)
    const stage = there.length - this.#pipes.get(key)!.length + hop
    const back = this.#back.get(key)!.slice(0, hop).reverse()
    const answered = (at: number) => this.#goOn(back, 0, at, 2 * headerBytes, arrived, wasLost)
    this.#goOn(there.slice(0, stage), 0, atMs, bytes + headerBytes, answered, wasLost)
  }

  /** Propagation delay of the whole way. */
  delayMs(from: string, to: string): number {
    return this.#along(from, to).reduce((sum, { settings }) => sum + settings.delayMs, 0)
  }

  #goOn(pipes: readonly Pipe[], stage: number, atMs: number, bytes: number, arrived: Fate, wasLost: Fate): void {
    const pipe = pipes[stage]
    if (pipe === undefined) {
      this.counts.forwarded += 1
      this.counts.bytes += bytes
      return arrived(atMs)
    }
    const out = pipe.enter(atMs, bytes)
    // The receiver of a packet with a flipped bit finds a wrong checksum and drops it.
    const isLost = out === lost || (out !== overflowed && pipe.corruptedBit(bytes * 8) !== undefined)
    if (isLost || out === overflowed) {
      this.counts[isLost ? 'lost' : 'overflowed'] += 1
      return wasLost(atMs)
    }
    this.#agenda.at(out, at => this.#goOn(pipes, stage + 1, at, bytes, arrived, wasLost))
  }

  #along(from: string, to: string): readonly Pipe[] {
    const key = keyOf(from, to)
    const extra = this.#extra.get(key)
    const pipes = this.#pipes.get(key) ?? []
    return extra ? [extra, ...pipes] : pipes
  }
}

const keyOf = (from: string, to: string): string => `${from}→${to}`
