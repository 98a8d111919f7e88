import type { ProcessMemory } from '../../../linux/memory.ts'
import { readsOfPage, writeReadsLeft } from './clock-page.ts'
import type { Nanoseconds } from './virtual-clock.ts'

/** Number of reads for which a system call counts that reads a clock. */
export const readsOfCall = 40
/**
 * Number of reads in one step after which they move the clock. It is more than a program needs that does not wait: a
 * JVM that loads a service's classes reads the clock about 30,000 times, varying between executions. If it were larger,
 * a program that waits by reading would do so in vain for longer.
 */
const readsFree = 32 * readsOfPage
/** After each further number of reads like this, a read takes a nanosecond longer. */
const readsFaster = 3 * readsOfPage
/** Longest time for one read. With more, a program that waits for a millisecond would wait for many. */
const readMax: Nanoseconds = 250

/**
 * The same for a program that makes other system calls between two reads. If it waits for the clock, it makes all of
 * them in vain, and what they fill gets full. So fewer reads are free, but not while it loads.
 */
const readsFreeOfWorking = 2 * readsOfPage
/** After each further number of reads like this, the program has waited e times as long. */
const readsOfGrowth = 512
/**
 * Longest time for one read and the work until the next. With more, a program that measures its work would be shown
 * hours; with less, one that waits would have to work more than on a real clock.
 */
const workMax: Nanoseconds = 50_000
/** Where a program's own doing takes time: for one read, and what it does until the next. About what a system call costs. */
const workOfRead: Nanoseconds = 1000
/** Reads after which the clock page stops such a program. */
const readsOfPaced = 128
/**
 * Reads in one step that take no time. With fewer, programs would have more steps that only read clocks now and then.
 */
const readsAtOnce = 8192
/** Reads after which the clock page stops a program that sends meanwhile: iperf3 sends until its clock has moved. */
const readsOfSender = 2 * readsOfPaced
/** Packets in a step from which a program counts as one that sends. */
const packetsOfSender = 16

/** Reads after which the clock page stops such a program. With more, short waits would last milliseconds. */
const readsOfWorking = 8

/** The process whose reads are counted. */
interface Counted {
  readonly memory: ProcessMemory
  readonly node: { readonly isPaced: boolean }
}

/**
 * How often one process reads the clock in a step, as far as that is noticed, and what it does between two reads. A
 * program that keeps reading waits for the clock to move, so it moves, the faster the longer that lasts.
 */
export class ClockReads {
  readonly #process: Counted
  #count = 0
  /** How far they have moved the clock. */
  #waited: Nanoseconds = 0
  /** Whether the process made another system call since the last noticed read. */
  #works = false
  /** Whether it was made, or began another program, in this step or during its node's start. */
  #isLoading = true
  #betweenStops = readsOfPage

  constructor(process: Counted) {
    this.#process = process
  }

  /** Number of reads from one stop by the clock page to the next. */
  get betweenStops(): number {
    return this.#process.node.isPaced ? readsOfPaced : this.#betweenStops
  }

  /** Whether the reads are so many that it matters whether the process makes other system calls between them. */
  get areMany(): boolean {
    return !this.#isLoading && this.#count >= readsFreeOfWorking
  }

  /** How far reads have moved the clock in this step. */
  get waited(): Nanoseconds {
    return this.#waited
  }

  beginStep(isStarting: boolean): void {
    this.#count = 0
    this.#waited = 0
    this.#works = false
    this.#isLoading = isStarting
  }

  endStep(): void {
    this.#stopAfter(readsOfPage)
  }

  /** The process has begun another program, with a clock page of its own. */
  beginProgram(): void {
    this.#works = false
    this.#isLoading = true
    this.#betweenStops = readsOfPage
  }

  /** The process makes another system call. */
  seeCall(): void {
    this.#works = true
  }

  /** Counts reads. Returns how long they take: the clock moves so far. */
  count(reads: number): Nanoseconds {
    this.#count += reads
    const duration = reads * this.#duration()
    this.#stopAfter(this.#works ? readsOfWorking : readsOfPage)
    this.#works = false
    return duration
  }

  /**
   * Counts reads where they take time.
   *
   * @param packets that its node sent and got in this step
   *
   * @returns how long the program must wait for its reads of this step; 0 while they are few
   */
  takeTime(reads: number, packets: number): Nanoseconds {
    this.#count += reads
    this.beginPage()
    const free = packets < packetsOfSender ? readsAtOnce : readsOfSender
    if (this.#count < (this.#isLoading ? readsFree : free)) return 0
    const duration = this.#count * workOfRead
    this.#count = 0
    return duration
  }

  /** It has a clock page that was just written, or has just stopped it. */
  beginPage(): void {
    if (this.#process.node.isPaced) writeReadsLeft(this.#process.memory, readsOfPaced)
  }

  /** These reads have moved the clock so far. */
  wait(duration: Nanoseconds): void {
    this.#waited += duration
  }

  /** How long one read takes. */
  #duration(): Nanoseconds {
    const tooMany = this.#count - readsFree
    const ofReading = tooMany <= 0 ? 0 : Math.min(1 + Math.floor(tooMany / readsFaster), readMax)
    if (!this.#works) return ofReading
    return Math.max(ofReading, Math.min(Math.max(1, Math.ceil(this.#waited / readsOfGrowth)), workMax))
  }

  #stopAfter(reads: number): void {
    if (reads === readsOfPage && this.#betweenStops === readsOfPage) return
    this.#betweenStops = reads
    writeReadsLeft(this.#process.memory, reads)
  }
}
