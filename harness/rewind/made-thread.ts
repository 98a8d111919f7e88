import { readFileSync } from 'node:fs'
import { innerId } from '../../linux/ids.ts'
import { ThreadEnded, wait } from '../../linux/ptrace.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { HeldThread, Origin } from '../hold/held/held-node.ts'
import { makeCalls } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import { type Legacy, tellLegacy } from './kept-thread.ts'
import { setLastId } from './last-id.ts'

/** Takes hold of a stopped thread made by us, by its id outside of the node. */
export type Adopt = (process: HeldThread['process'], tid: number, origin: Origin) => HeldThread

/**
 * A thread of a process at one or more marks. It may have ended since and been made again, which only the kernel
 * notices.
 */
export class KnownThread {
  thread: HeldThread
  /** Its id in the node. */
  readonly id: number
  readonly #name: string

  constructor(thread: HeldThread) {
    this.thread = thread
    this.id = innerId(thread.tid)
    this.#name = readFileSync(`/proc/${thread.tid}/comm`, 'latin1').trimEnd()
  }

  /**
   * Makes it again if it has ended: a stopped thread with the same id that shares everything with the others and has
   * not run yet.
   *
   * @param maker another thread of its process, frozen; its registers are lost
   *
   * @throws CannotRewind
   */
  makeAgain(maker: HeldThread, adopt: Adopt): void {
    setLastId(maker, this.id - 1)
    let made: number | undefined
    makeCalls(maker, [[syscallNumber.clone, asThread, 0, 0, 0, 0]], tid => {
      made = tid
    })
    if (made === undefined) throw new CannotRewind('a thread that has ended could not be made again')
    this.thread = adopt(maker.process, made, this.thread)
    awaitFirstStop(made)
    if (innerId(made) !== this.id) throw new CannotRewind(`a thread was made again as ${innerId(made)}, not ${this.id}`)
  }

  /** Repeats what it told the kernel when it began. Its memory is restored already; its registers are lost. */
  tellAgain(legacy: Legacy): void {
    tellLegacy(this.thread, legacy)
    makeCalls(this.thread, [[syscallNumber.prctl, setName, Buffer.from(`${this.#name}\0`, 'latin1')]])
  }
}

const setName = 15
/** CLONE_VM, FS, FILES, SIGHAND, THREAD and SYSVSEM, as for every thread. */
const asThread = 0x100 | 0x200 | 0x400 | 0x800 | 0x1_0000 | 0x4_0000

const awaitFirstStop = (tid: number): void => {
  try {
    wait(tid)
  } catch (error) {
    throw error instanceof ThreadEnded ? new CannotRewind('a thread that was made again has ended') : error
  }
}
