import { check, libc } from '../../proxy/libc.ts'

const waitpid: (pid: number, status: [number], options: number) => number = libc.func(
  'int waitpid(int pid, _Out_ int *status, int options)',
)
const noHang = 1

/** How a process ended: by itself, or by a signal. */
export type Ending = { readonly code: number } | { readonly signal: number }

/** Of a process that this one started, not by libuv; undefined while it runs. Afterwards it is gone. */
export const endingOf = (pid: number): Ending | undefined => {
  const status: [number] = [0]
  if (check('waitpid', waitpid(pid, status, noHang)) === 0) return undefined
  const signal = status[0] & 0x7f
  if (signal !== 0) return { signal }
  // The first process of a node gives a signal that its program died of as sh does.
  return endingOfCode(status[0] >> 8)
}

/** Of a program whose exit code came through a shell or an engine: one that died of a signal has 128 and its number. */
export const endingOfCode = (code: number): Ending => (code > 128 ? { signal: code - 128 } : { code })
