import type { CallRecorder } from './call-recorder.ts'
import type { HeldNode, HeldThread, Resumption } from './held-node.ts'
import { cont, contToSyscall, interrupt } from './ptrace.ts'
import { ahead } from './turns.ts'

/** Lets stopped threads go on, or keeps them where they are while their node is frozen. */
export class StoppedThreads {
  readonly #recording: { readonly recorder: CallRecorder | undefined }

  /** @param recording while it has a recorder, threads also stop at every system call */
  constructor(recording: { readonly recorder: CallRecorder | undefined }) {
    this.#recording = recording
  }

  /** Asks every thread of the node to stop where it is; the program sees nothing of it. */
  freeze(node: HeldNode): void {
    node.frozen = true
    const { threads } = node
    for (const thread of threads) thread.interrupted = true
    // They all stop once this thread waits for them, and not each by taking over the CPU.
    ahead(() => {
      for (const { tid } of threads) interrupt(tid)
    })
  }

  thaw(node: HeldNode): void {
    node.frozen = false
    for (const thread of node.threads) {
      const { resumption } = thread
      thread.resumption = undefined
      if (resumption) this.resume(thread, resumption)
    }
  }

  /** Lets one thread go on that is kept where it stopped, even if its node is frozen. */
  thawThread(thread: HeldThread): void {
    const { resumption } = thread
    thread.resumption = undefined
    if (resumption) this.#release(thread, resumption)
  }

  /** Its call returns as if it had slept. */
  endNap(thread: HeldThread): void {
    thread.napping = false
    thread.spinsAside = false
    this.thawThread(thread)
  }

  goOn(thread: HeldThread): void {
    this.resume(thread, { toSyscall: false, signal: 0 })
  }

  resume(thread: HeldThread, how: Resumption): void {
    if (thread.process.node.frozen) thread.resumption = how
    else this.#release(thread, how)
  }

  #release({ tid, isWatched }: HeldThread, { toSyscall, signal }: Resumption): void {
    if (toSyscall || isWatched || this.#recording.recorder) contToSyscall(tid, signal)
    else cont(tid, signal)
  }
}
