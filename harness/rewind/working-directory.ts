import { closeSync, fstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { openFor, pathOnly } from '../../linux/inside.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { HeldThread } from '../hold/held/held-node.ts'
import { succeed } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'

/** A process's working directory. The process may change it, and the directory may be removed and created again. */
export class WorkingDirectory {
  readonly #pid: number
  readonly #path: string

  /** @throws CannotRewind if the directory has been removed */
  constructor(pid: number) {
    this.#pid = pid
    this.#path = pathWithin(pid, readlinkSync(`/proc/${pid}/cwd`))
    if (this.#path.endsWith(' (deleted)')) throw new CannotRewind('its working directory has been removed')
  }

  /** Whether the process is in another directory. Ask when the disk is restored. */
  get isAnother(): boolean {
    const here = statSync(`/proc/${this.#pid}/cwd`)
    const there = statWithin(this.#pid, this.#path)
    return there?.ino !== here.ino || there.dev !== here.dev
  }

  /** Returns the process to the directory. The thread's registers are lost. @throws CannotRewind */
  goBack(thread: HeldThread): void {
    succeed(thread, [[syscallNumber.chdir, Buffer.from(`${this.#path}\0`)]])
  }
}

/** A path that the kernel shows of a process, as the process names it: it may have changed its root. */
export const pathWithin = (pid: number, path: string): string => {
  const root = readlinkSync(`/proc/${pid}/root`)
  if (path === root) return '/'
  return path.startsWith(`${root}/`) ? path.slice(root.length) : path
}

/** What a process has at a path; undefined if nothing. */
export const statWithin = (pid: number, path: string): Stats | undefined => {
  try {
    const fd = openFor(pid, path, pathOnly)
    const found = fstatSync(fd)
    closeSync(fd)
    return found
  } catch {
    return undefined
  }
}
