import { closeSync, fstatSync, readlinkSync, statSync } from 'node:fs'
import type { HeldThread } from '../hold/held-node.ts'
import { openFor, pathOnly } from '../hold/inside.ts'
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
    const here = statSync(`/proc/${this.#pid}/cwd`)
    const there = this.#find()
    return there?.ino !== here.ino || there.dev !== here.dev
  }

  #find() {
    try {
      const fd = openFor(this.#pid, this.#path, pathOnly)
      const found = fstatSync(fd)
      closeSync(fd)
      return found
    } catch {
      return undefined
    }
  }

  /** The process is there again. The thread's registers are lost. @throws CannotRewind */
  goBack(thread: HeldThread): void {
    succeed(thread, [[syscallNumber.chdir, Buffer.from(`${this.#path}\0`)]])
  }
}
