import { readFileSync } from 'node:fs'

/** The id that a thread has in its own pid namespace. */
export const innerId = (tid: number): number =>
  Number(/^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${tid}/status`, 'latin1'))![1])
