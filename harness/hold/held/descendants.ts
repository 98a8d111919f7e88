import { readdirSync, readFileSync } from 'node:fs'

/** All descendants of a process, each before its own. */
export const descendantsOf = (pid: number): number[] =>
  childrenOf(pid).flatMap(child => [child, ...descendantsOf(child)])

/** Children of all threads of a process; none if it has ended. */
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
