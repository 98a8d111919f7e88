import { readFileSync } from 'node:fs'

const lookMs = 500
/**
 * This many observations in a row must find a process stopped. With fewer, a process stopped together with this one by
 * Ctrl-Z could be seen as stopped while both are being continued.
 */
const looksMax = 8

/**
 * Calls back once a process has been stopped for some seconds, for example by SIGSTOP. A stopped process does nothing,
 * and only SIGKILL ends it.
 *
 * @returns a function that ends the watch
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
    // The program's name is in parentheses and may contain more of them.
    return / T [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false // it has ended
  }
}
