import { join } from 'node:path'
import type { Disk } from '../files/disk.ts'
import { VirtualClock } from '../hold/clock/virtual-clock.ts'
import type { HeldNode } from '../hold/held/held-node.ts'
import { Randomness, type RandomnessMark } from '../hold/held/randomness.ts'

/** Copies of what a node has of its earlier lives. */
export interface Inherited {
  readonly clock: VirtualClock
  readonly randomness: RandomnessMark
  /** While it is down: the disk of its next life; undefined for an empty one. */
  readonly disk: Disk | undefined
}

/** What the next life of a node begins with. All of its start follows from this. */
export class Inheritance {
  /** The execution's seed. */
  seed = 0
  /** Number of earlier lives in this execution. */
  lives = 0
  /** While the node is up, the clock and the random numbers of its life. */
  clock: VirtualClock
  randomness = new Randomness('')
  /** While it is down: the disk of its next life; undefined for an empty one. */
  #disk: Disk | undefined
  readonly #name: string
  /** What the clock shows when it is created, in seconds since 1970. */
  readonly #clocksStart: number
  readonly #directory: string
  /** Number of disks made so far. */
  #directories = 0

  /** @param directory where the disks of all lives are, each in a directory of its own */
  constructor(name: string, clocksStart: number, directory: string) {
    this.#name = name
    this.#clocksStart = clocksStart
    this.#directory = directory
    this.clock = new VirtualClock(clocksStart)
  }

  /** Resets it: an empty disk, clocks and random numbers at their beginning. The node must be down. */
  renew(seed: number, lives = 0): void {
    this.#disk?.remove()
    this.#disk = undefined
    this.seed = seed
    this.lives = lives
    this.clock = new VirtualClock(this.#clocksStart)
    this.randomness = new Randomness(`${seed} ${this.#name}`)
  }

  /** Call it when a life begins or goes on: the node's clock and random numbers are those of the life. */
  follow({ clock, randomness }: HeldNode): void {
    this.clock = clock
    this.randomness = randomness
  }

  /** Call it when a life is killed. @param disk what it leaves; undefined if that is lost */
  leave(disk: Disk | undefined): void {
    this.lives += 1
    this.clock = this.clock.copy()
    this.randomness = this.randomness.copy()
    this.#disk = disk
  }

  /** The disk that the next life takes. */
  takeDisk(): Disk | undefined {
    const disk = this.#disk
    this.#disk = undefined
    return disk
  }

  /** @param directory a new one, for the copy of the disk */
  copy(directory: string): Inherited {
    return { clock: this.clock.copy(), randomness: this.randomness.mark(), disk: this.#disk?.copy(directory) }
  }

  /** Goes back to what was copied. It must have been renewed. */
  restore({ clock, randomness, disk }: Inherited): void {
    this.#disk = disk?.copy(this.newDirectory())
    this.clock = clock.copy()
    this.randomness = Randomness.from(randomness)
  }

  /** Path of the directory of another disk, which is not made yet. */
  newDirectory(): string {
    return join(this.#directory, `disk${this.#directories++}`)
  }

  /** Names the random bytes that the next life reads from files. Each life in an execution has others. */
  get randomName(): string {
    return `${this.seed} ${this.#name} ${this.lives}`
  }

  /** Everything on which a start depends: equal for lives that begin alike. */
  get beginning(): string {
    const { drawn, forks } = this.randomness.mark()
    const { elapsed, jumped, periods } = this.clock
    return [this.seed, this.lives, elapsed, jumped, drawn, forks, this.#disk?.hash(periods) ?? ''].join(' ')
  }
}
