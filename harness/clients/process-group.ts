import { readdirSync, readFileSync } from 'node:fs'

/**
 * Whether a process group has processes beside its leader, and each of their threads waits for something: none computes or
 * waits for the CPU. The leader only waits for them.
 */
export const isAsleep = (group: number): boolean => {
  const states = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== group && statOf(`/proc/${name}`).group === group)
    .flatMap(pid => threadsOf(pid).map(thread => statOf(thread).state))
  return states.includes('S') && states.every(state => 'SZX'.includes(state))
}

const threadsOf = (pid: string): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).map(tid => `/proc/${pid}/task/${tid}`)
  } catch {
    return []
  }
}

/** Fields of stat, proc(5). The name before them is in parentheses, and may have spaces and parentheses itself. */
const statOf = (directory: string): { readonly state: string; readonly group: number } => {
  try {
    const stat = readFileSync(`${directory}/stat`, 'latin1')
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: state!, group: Number(group) }
  } catch {
    // It has ended meanwhile.
    return { state: 'X', group: 0 }
  }
}
