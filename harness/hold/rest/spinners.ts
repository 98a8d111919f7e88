import type { Registers, ThreadChange } from '../../../linux/ptrace.ts'
import type { HeldThread } from '../held/held-node.ts'
import type { HeldThreads } from '../held/held-threads.ts'
import { ahead, limitTurns, setRank } from '../turns/turns.ts'
import { sleeps } from './quiescence.ts'
import { spins, spinsAfterCall } from './spin.ts'
import type { StoppedThreads } from './stopped-threads.ts'

const noCall = -1
/** Below that of a node's first thread. */
const gaveWay = -1
/** Go's monitor gives what a thread in a system call has to another at its second look. */
const napsOfOthers = 4
/** Yields, at 30 µs each, before a look at the thread: more than any lock makes before it waits. */
const yieldsPerLook = 512
/** A thread that spins shows it twice as fast as its CPU time is spent, or some hundred times. */
const timersAwaitedMax = { byTurns: 2, byYields: 100 } as const

/**
 * Threads that compute or yield for long. One may spin on a thread of lower rank, which runs only once this one gives
 * way.
 */
export class Spinners {
  readonly #threads: HeldThreads
  readonly #stopped: StoppedThreads
  readonly #treat: (thread: HeldThread, change: ThreadChange) => void
  /** Threads that gave up their rank. */
  readonly #lowered = new Set<HeldThread>()

  /** @param treat treats what happened to a thread while it was looked at */
  constructor(
    threads: HeldThreads,
    stopped: StoppedThreads,
    treat: (thread: HeldThread, change: ThreadChange) => void,
  ) {
    this.#threads = threads
    this.#stopped = stopped
    this.#treat = treat
  }

  /** A thread has computed for its whole turn: the others go first. */
  endTurn(thread: HeldThread): void {
    const { process } = thread
    limitTurns(process.pid, process.node.turnUsMax)
    process.node.turnsUs += process.node.turnUsMax
    // Asked first: whenever this thread waits, as for V8's collector, others go on and may come to sleep.
    const [isAlone, found] = ahead(() => [watchesAlone(thread), spins(thread)] as const)
    if (typeof found === 'object') return this.#treat(thread, found)
    if (found && isAlone && this.#allSpin(thread)) process.node.spinsAlone(thread, timersAwaitedMax.byTurns)
    // Others had the CPU at an instruction of chance, or have it now.
    if (!found && !isAlone) process.node.turnsCut += 1
    for (const napper of process.threads) if (napper.napping) this.#stopped.endNap(napper)
    this.#giveUpRank(thread)
    this.#stopped.goOn(thread)
  }

  /**
   * A thread yields: the others go first. Returns true if it was looked at, because it has yielded again and again, and
   * was told how to go on.
   *
   * @param registers those of the thread
   */
  yield(thread: HeldThread, registers: Registers): boolean {
    this.#giveUpRank(thread)
    thread.yields += 1
    if (thread.yields % yieldsPerLook !== 0) return false
    this.#lookAtYield(thread, registers)
    return true
  }

  /**
   * A thread of a process that waits for the clock to move has made a call: others go first, as one of lower rank may be
   * what it waits for.
   */
  afterCall(thread: HeldThread): void {
    if (thread.process.awaitsTime && !this.#lowered.has(thread)) this.#giveUpRank(thread)
  }

  /** To be called where all threads wait: those that had to give up their rank have it again. */
  restoreRanks(): void {
    for (const thread of this.#lowered) {
      thread.rank = thread.ordinal
      if (this.#threads.get(thread.tid)) setRank(thread.tid, thread.ordinal)
    }
    this.#lowered.clear()
  }

  /**
   * Where the thread only waits for another to write something, it is put aside until the others have done what they do:
   * two of them would give way to each other for ever.
   */
  #lookAtYield(thread: HeldThread, registers: Registers): void {
    const isAlone = watchesAlone(thread)
    // It has given way often enough: this call does nothing, and the thread can be looked at.
    registers.set('origRax', noCall)
    registers.set('rax', 0)
    registers.store(thread.tid)
    const found = ahead(() => spinsAfterCall(thread))
    if (typeof found === 'object') return this.#treat(thread, found)
    if (found && !isAlone) {
      thread.napping = true
      thread.spinsAside = true
      thread.resumption = { toSyscall: false, signal: 0 }
      return
    }
    if (found && this.#allSpin(thread)) thread.process.node.spinsAlone(thread, timersAwaitedMax.byYields)
    this.#stopped.goOn(thread)
  }

  /**
   * Whether the threads that were put aside while this one spins still spin: the memory for which they wait may have
   * been written.
   */
  #allSpin(thread: HeldThread): boolean {
    const aside = thread.process.node.threads.filter(other => other !== thread && other.spinsAside)
    const goingOn = aside.filter(other => {
      const found = ahead(() => spins(other, false))
      if (found === true) return false
      if (found === false) this.#stopped.endNap(other)
      else {
        other.napping = false
        other.spinsAside = false
        other.resumption = undefined
        this.#treat(other, found)
      }
      return true
    })
    return goingOn.length === 0
  }

  /** All other threads of its node go on before it does, until all wait. */
  giveWay(thread: HeldThread): void {
    this.#giveUpRank(thread)
    thread.rank = gaveWay
    thread.napsFirst = napsOfOthers
    this.#lowered.add(thread)
  }

  #giveUpRank(thread: HeldThread): void {
    if (thread.ordinal === 0) return
    thread.rank = 0
    setRank(thread.tid, 0)
    this.#lowered.add(thread)
  }
}

/** Whether nothing else of its node can run, or watches it, but for threads that were put aside as they spin. */
const watchesAlone = (thread: HeldThread): boolean =>
  thread.process.node.threads.every(other => other === thread || other.spinsAside || (!other.napping && sleeps(other)))
