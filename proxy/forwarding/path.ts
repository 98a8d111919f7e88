import type { PacketPipe } from './pipe.ts'

/** A router on a path. */
export interface PathHop {
  readonly address: number
  /** The pipe from here to the hop before, or to the sender; undefined if nothing passes that way. */
  readonly back: PacketPipe | undefined
}

interface PassageEnd {
  readonly router: number
  /** Which router of the path it is, from 1. */
  readonly hop: number
  /** The pipe that the answer enters first. */
  readonly stage: number
}

/** The pipes that a packet passes, in this order. */
export interface Passage {
  /** The host at the end of the path. */
  readonly to: number
  readonly pipes: readonly PacketPipe[]
  readonly isCut: boolean
  /** The router at which a packet ends because its time to live is over. Its answer goes on. */
  readonly end?: PassageEnd | undefined
}

/** The path from one host to another. */
export class Path implements Passage {
  readonly to: number
  readonly #from: number
  readonly #pipes: readonly PacketPipe[]
  /** The routers between its pipes. */
  readonly hops: readonly PathHop[]
  /** By hop, the ways of packets that end there. */
  #ending: (Passage | undefined)[] = []
  pipes: readonly PacketPipe[]
  isCut = false

  constructor(from: number, to: number, pipes: readonly PacketPipe[], hops: readonly PathHop[] = []) {
    this.#from = from
    this.to = to
    this.#pipes = pipes
    this.pipes = pipes
    this.hops = hops
  }

  /** Puts one more pipe before the others. */
  putBefore(extra: PacketPipe | undefined): void {
    this.pipes = extra ? [extra, ...this.#pipes] : this.#pipes
    this.#ending = []
  }

  /** The way of a packet that ends at this router of the path, counted from 1; undefined if that cannot answer. */
  endingAt(hop: number): Passage | undefined {
    this.#ending[hop] ??= this.#to(hop)
    return this.#ending[hop]
  }

  #to(hop: number): Passage | undefined {
    const passed = this.hops.slice(0, hop)
    const back = passed.flatMap(({ back }) => back ?? []).reverse()
    if (back.length < hop) return undefined
    const stage = this.pipes.length - this.#pipes.length + hop
    const isCut = () => this.isCut
    return {
      to: this.#from,
      pipes: [...this.pipes.slice(0, stage), ...back],
      end: { router: passed.at(-1)!.address, hop, stage },
      get isCut() {
        return isCut()
      },
    }
  }
}
