import { readKernelFile } from './kernel-file.ts'

/** The id that a thread has in its own pid namespace. */
export const innerId = (tid: number): number =>
  Number(/^NSpid:.*\s(\d+)$/m.exec(readKernelFile(`/proc/${tid}/status`))![1])
