import { countUpTo } from '../config/notes.ts'
import type { Life } from './life.ts'

/** Parked lives at most, besides those with which executions begin. A life takes some megabytes, a JVM some hundred. */
const parkedMax = 6
const seenMax = 10_000
const reasonsMax = 3

/**
 * Ended lives that can be lived again, by how they begin: what a program does in its start follows from the time, the
 * random numbers and the disk that it finds. A new start costs ten times as much.
 */
export class ParkedLives {
  /** How many lives were ever added. */
  count = 0
  /** Why lives could not be lived again, and how many; only the first few reasons. */
  readonly reasons = new Map<string, number>()
  readonly #parked = new Map<string, Life>()
  /** Ended lives that are kept for their marks alone. */
  readonly #kept = new Set<Life>()
  /** How often each beginning occurred in the middle of an execution. */
  readonly #seen = new Map<string, number>()
  /** Beginnings of the lives with which executions begin. */
  readonly #first = new Set<string>()
  readonly #wanted = new WeakSet<Life>()
  readonly #beginnings = new WeakMap<Life, string>()

  /** Whether a life with this beginning is parked. */
  has(beginning: string): boolean {
    return this.#parked.has(beginning)
  }

  /** Takes a parked life with this beginning, which then belongs to the caller. */
  take(beginning: string): Life | undefined {
    const life = this.#parked.get(beginning)
    if (life) this.#see(beginning)
    this.#parked.delete(beginning)
    return life
  }

  /** Removes a life from the parked ones; false if it is not parked. */
  takeOut(life: Life): boolean {
    const parked = [...this.#parked].find(([, each]) => each === life)
    return parked === undefined ? this.#kept.delete(life) : this.#parked.delete(parked[0])
  }

  isParked(life: Life): boolean {
    return this.#kept.has(life) || [...this.#parked.values()].includes(life)
  }

  /** Call it when a life has lost a mark: without marks, a life that was kept for them is ended. */
  hasLostMark(life: Life): void {
    if (life.hasMarks || !this.#kept.delete(life)) return
    this.discard(life)
  }

  /** Ends a life that has no owner and cannot be rewound. */
  discard(life: Life): void {
    life.kill()
    life.bury()
  }

  /**
   * Adds a new life.
   *
   * @param isFirst whether it is the first in its execution
   */
  add(life: Life, beginning: string, isFirst: boolean): void {
    this.count += 1
    this.#beginnings.set(life, beginning)
    if (isFirst) this.#first.add(beginning)
    else this.#see(beginning)
    if (isFirst || this.#comesOften(beginning)) this.#wanted.add(life)
  }

  #see(beginning: string): void {
    const times = this.#timesSeen(beginning)
    if (times > 0 || this.#seen.size < seenMax) this.#seen.set(beginning, times + 1)
  }

  #timesSeen(beginning: string): number {
    return this.#seen.get(beginning) ?? 0
  }

  /** Whether the beginning occurred before, and more often than that of a parked life if no more may be parked. */
  #comesOften(beginning: string): boolean {
    const others = this.#others
    const times = this.#timesSeen(beginning)
    return times > 1 && (others.length < parkedMax || others.some(other => this.#timesSeen(other) < times))
  }

  /** Beginnings of parked lives, without those with which executions begin, in the order in which they were parked. */
  get #others(): string[] {
    return [...this.#parked.keys()].filter(beginning => !this.#first.has(beginning))
  }

  /** Whether it should be marked: if executions begin with it, or its beginning occurs again and again. */
  isWanted(life: Life): boolean {
    return this.#wanted.has(life) && !life.isMarked
  }

  /** Parks a life, keeps it for its marks, or ends it. */
  end(life: Life): void {
    const beginning = this.#beginnings.get(life)
    if (beginning !== undefined && !this.#parked.has(beginning) && this.#park(life)) {
      this.#parked.set(beginning, life)
      this.#limit()
    } else this.#end(life)
    if (life.reason !== undefined) countUpTo(reasonsMax, this.reasons, life.reason)
  }

  /** Ends the parked lives, but keeps those that have marks for them. */
  endParked(): void {
    for (const [beginning, life] of [...this.#parked]) {
      this.#parked.delete(beginning)
      this.#end(life)
    }
  }

  /** Kills all lives, and the present one. They are gone after `close`. */
  kill(life: Life | undefined): void {
    for (const each of this.#all(life)) each.kill()
  }

  #all(life: Life | undefined): Life[] {
    return [...this.#parked.values(), ...this.#kept, ...(life ? [life] : [])]
  }

  /** Ends all lives, and the present one. */
  close(life: Life | undefined): void {
    this.kill(life)
    for (const each of this.#all(life)) each.bury()
    this.#parked.clear()
    this.#kept.clear()
  }

  /** Returns whether it was parked. A life that is neither parked nor lived would never be ended. */
  #park(life: Life): boolean {
    return this.#orDiscard(life, () => life.park())
  }

  #end(life: Life): void {
    if (this.#orDiscard(life, () => life.keep())) this.#kept.add(life)
    else this.discard(life)
  }

  #orDiscard(life: Life, work: () => boolean): boolean {
    try {
      return work()
    } catch (error) {
      this.discard(life)
      throw error
    }
  }

  /** Ends the parked lives whose beginnings occurred least often, if there are too many. */
  #limit(): void {
    const others = this.#others.toSorted((one, other) => this.#timesSeen(one) - this.#timesSeen(other))
    for (const beginning of others.slice(0, Math.max(0, others.length - parkedMax))) {
      const life = this.#parked.get(beginning)!
      this.#parked.delete(beginning)
      this.#end(life)
    }
  }
}
