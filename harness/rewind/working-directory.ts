import { readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { HeldThread } from '../hold/held-node.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { succeed } from './batch.ts'
import { CannotRewind } from './error.ts'

/** Where a process is: it may go elsewhere, and what it is in may be removed and made again. */
export class WorkingDirectory {
  readonly #pid: number
  readonly #path: string

  /** @throws CannotRewind where it has been removed */
  constructor(pid: number) {
    this.#pid = pid
    const root = readlinkSync(`/proc/${pid}/root`)
    const path = readlinkSync(`/proc/${pid}/cwd`)
    // It may have changed its root.
    this.#path = path === root ? '/' : path.startsWith(`${root}/`) ? path.slice(root.length) : path
    if (this.#path.endsWith(' (deleted)')) throw new CannotRewind('its working directory has been removed')
  }

  /** To be asked when the disk is as it was. */
  get isAnother(): boolean {
    const there = statSync(join(`/proc/${this.#pid}/root`, this.#path), { throwIfNoEntry: false })
    const here = statSync(`/proc/${this.#pid}/cwd`)
    return there?.ino !== here.ino || there.dev !== here.dev
  }

  /** The process is there again. The thread's registers are lost. @throws CannotRewind */
  goBack(thread: HeldThread): void {
    succeed(thread, [[syscallNumber.chdir, Buffer.from(`${this.#path}\0`)]])
  }
}
