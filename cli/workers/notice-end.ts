import type { ChildProcess } from 'node:child_process'

const lookMs = 100

/**
 * Makes sure that the end of a process with a channel is emitted. A thread that holds nodes waits for any of its children. If
 * it takes the end of this one, Node.js never learns of it; but it sees that the channel is closed.
 */
export const noticeEnd = (child: ChildProcess): void => {
  child.once('disconnect', () => {
    const look = setInterval(() => {
      if (!isThere(child.pid!)) child.emit('exit', 0, null)
    }, lookMs)
    child.once('exit', () => clearInterval(look))
  })
}

/** Whether a process is there, or its end has not been taken. */
const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
