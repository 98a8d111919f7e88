import { countUpTo } from '../notes.ts'
import type { Runner } from '../runner.ts'
import type { Life } from './life.ts'

/** Besides those that executions begin with: each has some megabytes. */
const parkedMax = 4
const seenMax = 10_000
const reasonsMax = 3

/**
 * Lives that are over and can be lived again, by how they begin: what a program does in its start follows from the time,
 * the randomness and the disk that it finds. A start costs ten times as much.
 */
export class ParkedLives {
  /** How many were ever added. */
  count = 0
  /** Why lives could not be lived again, with how many; the first few reasons. */
  readonly reasons = new Map<string, number>()
  readonly #parked = new Map<string, Life>()
  readonly #seen = new Set<string>()
  /** Those that executions begin with. */
  readonly #first = new Set<string>()
  readonly #wanted = new WeakSet<Life>()
  readonly #beginnings = new WeakMap<Life, string>()

  /** Whether a life is parked that begins so. */
  has(beginning: string): boolean {
    return this.#parked.has(beginning)
  }

  /** A parked life that begins so, which is the caller's then. */
  take(beginning: string): Life | undefined {
    const life = this.#parked.get(beginning)
    this.#parked.delete(beginning)
    return life
  }

  /** The same of one that is known; false where it is not parked. */
  takeOut(life: Life): boolean {
    const parked = [...this.#parked].find(([, each]) => each === life)
    return parked !== undefined && this.#parked.delete(parked[0])
  }

  isParked(life: Life): boolean {
    return [...this.#parked.values()].includes(life)
  }

  /** Ends one that is nobody's any more, and cannot be brought back. */
  discard(life: Life, runner: Runner): void {
    this.#end(life, runner)
  }

  /**
   * Adds a new life.
   *
   * @param isFirst of its execution
   */
  add(life: Life, beginning: string, isFirst: boolean): void {
    this.count += 1
    this.#beginnings.set(life, beginning)
    if (isFirst || this.#seen.has(beginning)) this.#wanted.add(life)
    if (isFirst) this.#first.add(beginning)
    else if (this.#seen.size < seenMax) this.#seen.add(beginning)
  }

  /** Whether it should be marked: those that executions begin with, and those with a beginning that has been before. */
  isWanted(life: Life): boolean {
    return this.#wanted.has(life) && !life.isMarked
  }

  /** Parks a life, or ends it. */
  end(life: Life, runner: Runner): void {
    const beginning = this.#beginnings.get(life)
    if (beginning !== undefined && !this.#parked.has(beginning) && this.#park(life, runner)) {
      this.#parked.set(beginning, life)
      this.#limit(runner)
    } else this.#end(life, runner)
    if (life.reason !== undefined) countUpTo(reasonsMax, this.reasons, life.reason)
  }

  /** Ends all, and the one that is lived now. */
  close(runner: Runner, life: Life | undefined): void {
    const all = life ? [...this.#parked.values(), life] : [...this.#parked.values()]
    for (const each of all) each.kill()
    for (const each of all) each.bury(runner)
    this.#parked.clear()
  }

  /** Nobody else would end one that is neither parked nor lived. */
  #park(life: Life, runner: Runner): boolean {
    try {
      return life.park(runner)
    } catch (error) {
      this.#end(life, runner)
      throw error
    }
  }

  #end(life: Life, runner: Runner): void {
    life.kill()
    life.bury(runner)
  }

  /** What was parked first goes first. */
  #limit(runner: Runner): void {
    const others = [...this.#parked].filter(([beginning]) => !this.#first.has(beginning))
    for (const [beginning, life] of others.slice(0, Math.max(0, others.length - parkedMax))) {
      this.#parked.delete(beginning)
      this.#end(life, runner)
    }
  }
}
