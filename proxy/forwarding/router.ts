import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { mersenne } from 'pure-rand/generator/mersenne'
import { parseAddress } from '../../linux/address.ts'
import { age } from '../packets/ip-header.ts'
import { answerTimeExceeded } from '../time-to-live.ts'
import { indexOfKind, type Kind, newCarried, newCounters } from './counters.ts'
import { Packets, type Pass } from './packets.ts'
import { type Passage, Path } from './path.ts'
import { lost, overflowed, PacketPipe } from './pipe.ts'
import type { ForwardingPlan, HostWayChange, PipeChange } from './plan.ts'

/** The wire to a host: whole IPv4 packets, each after a header that is passed on unchanged. */
export interface Port {
  /** Reads the next packet that the host sent, and returns its length with the header; 0 if there is none. */
  read(into: Buffer): number
  write(packet: Buffer, length: number): void
}

/** Bytes before each packet: struct virtio_net_hdr. */
export const headerLength = 10
/** At most this many packets of one host are read before other hosts get a turn. */
const burst = 64
const timeToLiveAt = headerLength + 8
const destinationAt = headerLength + 16

/**
 * The forwarding plane. It takes packets from hosts and passes them to others when they come out of the pipes between
 * them. All times are milliseconds of the caller's clock.
 */
export class Router {
  readonly counters: Float64Array
  /** By host; undefined for one that has not come. */
  readonly #ports: (Port | undefined)[]
  readonly #hostsMax: number
  readonly #hosts: ReadonlyMap<number, number>
  readonly #pipes: readonly PacketPipe[]
  readonly #paths: (Path | undefined)[]
  readonly #random: () => number
  readonly #packets = new Packets()
  readonly #pass: Pass = (bytes, length, passage, stage, at, now) => this.#goOn(bytes, length, passage, stage, at, now)
  /** The packet that was read last. */
  readonly #hand = Buffer.allocUnsafeSlow(1 << 17)

  constructor(
    { addresses, pipes, routes, hops, seed }: ForwardingPlan,
    ports: readonly Port[],
    counters = newCounters(),
    carried = newCarried(pipes.length),
  ) {
    this.counters = counters
    this.#ports = [...ports]
    this.#hostsMax = addresses.length
    this.#hosts = new Map(addresses.map((address, host) => [parseAddress(address), host]))
    const generator = mersenne(seed)
    this.#random = () => uniformFloat64(generator)
    this.#pipes = pipes.map((settings, index) => new PacketPipe(settings, this.#random, carried, index))
    this.#paths = Array(addresses.length ** 2).fill(undefined)
    for (const [index, { from, to, pipes }] of routes.entries())
      this.#paths[from * this.#hostsMax + to] = new Path(
        from,
        to,
        pipes.map(pipe => this.#pipes[pipe]!),
        hops?.[index]?.map(({ address, back }) => ({
          address: parseAddress(address),
          back: back === undefined ? undefined : this.#pipes[back],
        })),
      )
  }

  /** Attaches a host of the plan that was not there. */
  attach(host: number, port: Port): void {
    this.#ports[host] = port
  }

  /** Applies all changes at once, between two packets. */
  change(changes: readonly HostWayChange[], pipes: readonly PipeChange[], now: number): void {
    for (const { pipe, settings } of pipes) this.#pipes[pipe]!.change(settings, now)
    for (const { from, to, isCut, extra } of changes) {
      if (from === to) continue
      const path = this.#pathTo(from, to)
      if (isCut !== undefined) path.isCut = isCut
      if (extra !== undefined) path.putBefore(extra === null ? undefined : new PacketPipe(extra, this.#random))
    }
  }

  /** When the first waiting packet is due; Infinity if none waits. */
  get due(): number {
    return this.#packets.due
  }

  /** Reads what a host sends. */
  takeFrom(host: number, now: number): void {
    for (let taken = 0; taken < burst; taken++) {
      const length = this.#ports[host]!.read(this.#hand)
      if (length === 0) return
      const path = this.#pathFrom(host, length)
      const passage = path && this.#passageOf(path)
      if (passage === undefined) this.#count('unroutable', 1)
      else this.#goOn(this.#hand, length, passage, 0, now, now)
    }
  }

  /** Passes on packets that are due. */
  release(now: number): void {
    while (this.due <= now) this.#packets.next(this.#pass, now)
  }

  #pathFrom(host: number, length: number): Path | undefined {
    if (length < headerLength + 20) return undefined
    const destination = this.#hosts.get(this.#hand.readUInt32BE(destinationAt))
    return destination === undefined ? undefined : this.#pathBetween(host, destination)
  }

  #pathBetween(from: number, to: number): Path | undefined {
    return from === to || this.#ports[to] === undefined ? undefined : this.#pathTo(from, to)
  }

  #pathTo(from: number, to: number): Path {
    return (this.#paths[from * this.#hostsMax + to] ??= new Path(from, to, []))
  }

  /** The path's routers count down the packet's time to live. Where that is over, the packet ends. */
  #passageOf(path: Path): Passage | undefined {
    const { length } = path.hops
    if (length === 0) return path
    const timeToLive = this.#hand[timeToLiveAt]!
    if (timeToLive <= length) return path.endingAt(Math.max(1, timeToLive))
    age(this.#hand, length, headerLength)
    return path
  }

  /** @param at when the packet is at that stage; not later than now */
  #goOn(bytes: Buffer, given: number, passage: Passage, from: number, at: number, now: number): void {
    if (passage.isCut) return this.#count('cut', 1)
    let time = at
    let length = given
    for (let stage = from; stage < passage.pipes.length; stage++) {
      if (passage.end?.stage === stage) length = this.#answer(bytes, passage.end)
      if (length === 0) return this.#count('unroutable', 1)
      const pipe = passage.pipes[stage]!
      time = pipe.enter(time, length - headerLength)
      if (time === lost) return this.#count('lost', 1)
      if (time === overflowed) return this.#count('overflowed', 1)
      this.#corrupt(bytes, length, pipe)
      if (pipe.isDuplicated()) this.#packets.keep(bytes, length, passage, stage + 1, time)
      if (time > now) return this.#packets.keep(bytes, length, passage, stage + 1, time)
    }
    this.#ports[passage.to]?.write(bytes, length)
    this.#count('forwarded', 1)
    this.#count('bytes', length - headerLength)
  }

  /** Turns a packet into a router's answer. Returns its length; 0 if none is sent. */
  #answer(bytes: Buffer, { router, hop }: NonNullable<Passage['end']>): number {
    const length = answerTimeExceeded(bytes.subarray(headerLength), router, hop)
    if (length === 0) return 0
    bytes.fill(0, 0, headerLength)
    return headerLength + length
  }

  #corrupt(bytes: Buffer, length: number, pipe: PacketPipe): void {
    const bit = pipe.corruptedBit(8 * (length - headerLength))
    if (bit !== undefined) bytes[headerLength + (bit >> 3)]! ^= 1 << (bit & 7)
  }

  #count(kind: Kind, amount: number): void {
    this.counters[indexOfKind[kind]]! += amount
  }
}
