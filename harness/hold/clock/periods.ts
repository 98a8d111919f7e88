import { clockGettime, libc, requireSuccess } from '../../../linux/libc.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'

type Nanoseconds = number

const memfdCreate = libc.func('int memfd_create(const char *name, unsigned int flags)')
const closeOnExec = 1
const futimens = libc.func('int futimens(int fd, void *times)')
/** By number, because the C library has no such function before glibc 2.33. */
const fstat = libc.func('long syscall(long number, int fd, void *attributes)')

/** When this tool began, in seconds since 1970. Instants count from here, to be exact as doubles. */
export const firstSecond = Math.floor(Date.now() / 1000)

/** An instant of this machine's clock in nanoseconds, from a file's seconds and nanoseconds. */
export const instantOf = (seconds: number, nanoseconds: number): Nanoseconds =>
  (seconds - firstSecond) * 1e9 + nanoseconds

let marker: number | undefined
let latest: Nanoseconds = Number.NEGATIVE_INFINITY

/**
 * An instant between all file stamps so far and all later ones. The kernel stamps by the last tick of its clock, but
 * never earlier than a stamp that somebody has seen: a file whose stamp of this tick was seen gets an exact one next
 * (since Linux 6.13). This therefore makes two stamps: one of this tick, which it sees, and an exact one. One is enough
 * if the marker has an exact stamp of this tick. With an older kernel, files written in the same tick count as written
 * later.
 */
const now = (): Nanoseconds => {
  marker ??= requireSuccess('memfd_create', memfdCreate('lastnail', closeOnExec))
  const first = stamp(marker)
  latest = lastTick() <= latest ? first : stamp(marker)
  return latest
}

const attributes = Buffer.alloc(144)
/** Offset of st_ctim in struct stat. */
const changed = 104

/** Stamps a file by the kernel's clock, and sees the stamp. */
const stamp = (file: number): Nanoseconds => {
  requireSuccess('futimens', futimens(file, null))
  requireSuccess('fstat', fstat(syscallNumber.fstat, file, attributes))
  return instantOf(Number(attributes.readBigInt64LE(changed)), attributes.readUInt32LE(changed + 8))
}

const realtimeCoarse = 5
const tick = new BigInt64Array(2)

const lastTick = (): Nanoseconds => {
  requireSuccess('clock_gettime', clockGettime(realtimeCoarse, tick))
  return instantOf(Number(tick[0]), Number(tick[1]))
}

/**
 * Tolerance, because copies of files have slightly less exact times. Nothing is written this soon after a period began.
 * A larger value could assign a file to a later period, a smaller one a copy to an earlier period.
 */
const tolerance: Nanoseconds = 1000

/**
 * Which time a node's clock showed at which time of this machine's clock. Times of files need it: the kernel stamps
 * them. In each period the clock stands still. They are plain numbers, because a run of hours has some for each step.
 */
export class Periods {
  /**
   * Beginning and time shown of each, in turn: the beginning is by this machine's clock. There may be room for more. What
   * is there is never written again, so copies and marks share it.
   */
  #numbers: Float64Array
  #count: number

  constructor(numbers: Float64Array = new Float64Array(0)) {
    this.#numbers = numbers
    this.#count = numbers.length / 2
  }

  copy(): Periods {
    return new Periods(this.#taken)
  }

  /** From now on, the node's clock shows this time. */
  begin(elapsed: Nanoseconds): void {
    const at = 2 * this.#count++
    if (at === this.#numbers.length) this.#makeRoom()
    this.#numbers[at] = now()
    this.#numbers[at + 1] = elapsed
  }

  /** The time shown at an instant of this machine's clock; undefined before the node existed, and in the future. */
  shownAt(instant: Nanoseconds): Nanoseconds | undefined {
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#numbers[2 * middle]! <= instant + tolerance) low = middle + 1
      else high = middle
    }
    // Date.now() has whole milliseconds, so a stamp from the present one may look like the future.
    const nextSecond = instantOf(Math.floor(Date.now() / 1000) + 1, 0)
    return instant > nextSecond || low === 0 ? undefined : this.#numbers[2 * low - 1]
  }

  /** Returns a function that restores the present state and forgets later periods. */
  mark(): () => void {
    const numbers = this.#taken
    return () => {
      this.#numbers = numbers
      this.#count = numbers.length / 2
    }
  }

  get #taken(): Float64Array {
    return this.#numbers.subarray(0, 2 * this.#count)
  }

  #makeRoom(): void {
    const numbers = new Float64Array(2 * Math.max(4, this.#numbers.length))
    numbers.set(this.#numbers)
    this.#numbers = numbers
  }
}
