import { descendantsOf } from '../hold/descendants.ts'
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
