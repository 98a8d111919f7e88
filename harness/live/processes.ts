import { readdirSync, readFileSync } from 'node:fs'
import { sendSignal } from '../hold/launch.ts'

/**
 * Sends a signal to a node's processes: the group that its first began, and whatever else descends from it; one that
 * loses its parent becomes a child of the first.
 *
 * @param pid of its first
 */
export const signalAll = (pid: number, signal: number): void => {
  sendSignal(-pid, signal)
  for (const each of descendantsOf(pid)) sendSignal(each, signal)
}

const descendantsOf = (pid: number): number[] => childrenOf(pid).flatMap(child => [child, ...descendantsOf(child)])

/** Those of all threads of a process; none where it has ended. */
export const childrenOf = (pid: number): number[] =>
  unlessGone(() => readdirSync(`/proc/${pid}/task`)).flatMap(thread =>
    unlessGone(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' '))
      .filter(Boolean)
      .map(Number),
  )

const unlessGone = (list: () => string[]): string[] => {
  try {
    return list()
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
