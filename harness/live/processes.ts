import { readFileSync } from 'node:fs'
import { sendSignal } from '../hold/launch.ts'

/**
 * Sends a signal to a node's processes: the group that its first began, and those that left it and have lost their
 * parent since, as daemons do.
 *
 * @param pid of its first
 */
export const signalAll = (pid: number, signal: number): void => {
  sendSignal(-pid, signal)
  for (const child of childrenOf(pid)) sendSignal(child, signal)
}

/** Of a process that has one thread. */
export const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number)
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
