import { descendantsOf } from '../hold/held/descendants.ts'
import { sendSignal } from '../hold/start/launch.ts'

/**
 * Sends a signal to all of a node's processes: the group of the first one, and everything that descends from it. A
 * process that loses its parent becomes a child of the first.
 *
 * @param pid of the first process
 */
export const signalAll = (pid: number, signal: number): void => {
  sendSignal(-pid, signal)
  for (const each of descendantsOf(pid)) sendSignal(each, signal)
}
