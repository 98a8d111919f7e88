import { readFileSync } from 'node:fs'
import { nap } from './turns.ts'

const isExiting = 0x4 // PF_EXITING
/** Naps before a process counts as not ending: a killed one needs a few. */
const napsMax = 50

/**
 * Whether a process on which a call failed is about to end or is gone. A process that was just killed is given a
 * moment.
 */
export const isEnding = (pid: number): boolean => {
  for (let naps = 0; naps < napsMax; naps++) {
    if (hasBegunToEnd(pid)) return true
    nap()
  }
  return false
}

const hasBegunToEnd = (pid: number): boolean => {
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
