import { readFileSync } from 'node:fs'

const lookMs = 500
/**
 * So many looks in a row find a process stopped before it counts. With fewer, one that is stopped together with this one, by
 * Ctrl-Z, might be seen so when both go on.
 */
const looksMax = 8

/**
 * Tells once a process has been stopped for some seconds, as by SIGSTOP: it does nothing then, and ends for nothing but
 * SIGKILL.
 *
 * @returns what ends the watch
 */
export const whenStopped = (pid: number | undefined, onStopped: () => void): (() => void) => {
  let looks = 0
  const watch = setInterval(() => {
    looks = isStopped(pid) ? looks + 1 : 0
    if (looks < looksMax) return
    clearInterval(watch)
    onStopped()
  }, lookMs)
  watch.unref()
  return () => clearInterval(watch)
}

const isStopped = (pid: number | undefined): boolean => {
  try {
    // The name of the program stands in brackets, and may contain more of them.
    return / T [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false // it has ended
  }
}
