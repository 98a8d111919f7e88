import { readFileSync } from 'node:fs'

const isExiting = 0x4 // PF_EXITING

/** Whether a process has begun to end, or is gone. */
export const isEnding = (pid: number): boolean => {
  try {
    // After the name in parentheses: the state, five ids, and the flags.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[6]) & isExiting) !== 0
  } catch {
    return true
  }
}
