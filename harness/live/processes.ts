import { readdirSync, readFileSync } from 'node:fs'

/** A process and all its descendants, parents first. Those that are stopped in this order have no more children. */
export const processesOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(processesOf)]

const childrenOf = (pid: number): number[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap(tid =>
      readFileSync(`/proc/${pid}/task/${tid}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    )
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

const isGone = (error: unknown): boolean => ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')
