import { cont, contToSyscall, interrupt, listen, singleStep, stopSignalOf } from '../../../linux/ptrace.ts'
import type { CallRecorder } from '../held/call-recorder.ts'
import type { HeldNode, HeldThread, Resumption } from '../held/held-node.ts'
import { ahead } from '../turns/turns.ts'

/** SIGXCPU */
export const turnOverSignal = 24
/** Less than any limit of a turn. */
const turnMsMin = 1

/**
 * Lets stopped threads go on, or keeps them where they are while their node is frozen.
 *
 * Threads go on together, once all that stopped was treated. If each went on at once, it would run whenever this thread
 * sleeps before it treats the next one, as it does in some collections of garbage, and the order would be one of chance.
 */
export class StoppedThreads {
  /** Threads that go on next, in order; none of a frozen node. */
  #ready: HeldThread[] = []
  readonly #recording: { readonly recorder: CallRecorder | undefined }

  /** @param recording while it has a recorder, threads also stop at every system call */
  constructor(recording: { readonly recorder: CallRecorder | undefined }) {
    this.#recording = recording
  }

  /** Asks every thread of the node to stop where it is; the program sees nothing of it. */
  freeze(node: HeldNode): void {
    node.frozen = true
    this.#ready = this.#ready.filter(({ process }) => process.node !== node)
    const { threads } = node
    for (const thread of threads) thread.interrupted = true
    // They all stop once this thread waits for them, and not each by taking over the CPU.
    ahead(() => {
      for (const { tid } of threads) interrupt(tid)
    })
  }

  /** Its threads go on at the next `letGo`. */
  thaw(node: HeldNode): void {
    node.frozen = false
    this.#ready.push(...node.threads)
  }

  /** Lets one thread go on at once that is kept where it stopped, even if its node is frozen. */
  thawThread(thread: HeldThread): void {
    const { resumption } = thread
    thread.resumption = undefined
    if (resumption) this.#release(thread, resumption)
  }

  /** The thread's call returns as if it had slept. */
  endNap(thread: HeldThread): void {
    thread.napping = false
    thread.spinsAside = false
    this.#makeReady(thread)
  }

  /** Unless its node is frozen, the thread goes on at the next `letGo`. */
  goOn(thread: HeldThread): void {
    this.resume(thread, { toSyscall: false, signal: 0 })
  }

  /** Lets the thread go on as `goOn` does, with a signal or until the exit of its call. */
  resume(thread: HeldThread, how: Resumption): void {
    thread.resumption = how
    this.#makeReady(thread)
  }

  #makeReady(thread: HeldThread): void {
    if (!thread.process.node.frozen) this.#ready.push(thread)
  }

  /**
   * Lets threads go on. Call it when the tool is about to wait.
   *
   * @returns true if a thread used up its turn. Treat it first: later one cannot tell which threads were ready.
   */
  letGo(): boolean {
    const ready = this.#takeNext()
    const begun = performance.now()
    for (const thread of ready) this.thawThread(thread)
    if (performance.now() - begun < turnMsMin) return false
    return ready.some(({ tid }) => stopSignalOf(tid) === turnOverSignal)
  }

  /** Whether any stays where it is because one of its node has a higher rank. */
  get keepsAny(): boolean {
    return this.#ready.length > 0
  }

  /** Whether all those that could go on have given way, so that all others wait. */
  get keepsLast(): boolean {
    return this.#ready.length > 0 && this.#ready.every(({ rank }) => rank < 0)
  }

  /** Of nodes whose threads may give way, only the thread with the highest rank goes on; of several, the first. */
  #takeNext(): HeldThread[] {
    const ready = this.#ready
    this.#ready = []
    if (!ready.some(isOfOrder)) return ready
    const first = new Map<HeldNode, HeldThread>()
    for (const thread of ready) {
      const { node } = thread.process
      const before = first.get(node)
      if (isOfOrder(thread) && (before === undefined || thread.rank > before.rank)) first.set(node, thread)
    }
    for (const [node, { napsFirst }] of first) if (napsFirst > 0 && this.#endNaps(node)) first.delete(node)
    const goesOn = (thread: HeldThread) => !isOfOrder(thread) || first.get(thread.process.node) === thread
    this.#ready.push(...ready.filter(thread => !goesOn(thread)))
    return ready.filter(goesOn)
  }

  /** Lets those go on that nap, in place of a thread that has given way. Returns whether any did. */
  #endNaps({ threads }: HeldNode): boolean {
    const napping = threads.filter(thread => thread.napping && !thread.spinsAside)
    for (const thread of threads) if (thread.napsFirst > 0) thread.napsFirst -= 1
    for (const thread of napping) this.endNap(thread)
    return napping.length > 0
  }

  #release({ tid, isWatched, instructionsLeft }: HeldThread, { toSyscall, signal, listens }: Resumption): void {
    if (listens) listen(tid)
    else if (instructionsLeft > 0 && !toSyscall) singleStep(tid, signal)
    else if (toSyscall || isWatched || this.#recording.recorder) contToSyscall(tid, signal)
    else cont(tid, signal)
  }
}

/** Whether its node's threads go on one after the other, because they may give way. */
const isOfOrder = ({ process }: HeldThread): boolean => process.node.mayStrike.has('preempt')
