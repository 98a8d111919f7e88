import { libc, requireSuccess } from '../../linux/libc.ts'

const waitpid: (pid: number, status: [number], options: number) => number = libc.func(
  'int waitpid(int pid, _Out_ int *status, int options)',
)
const noHang = 1

/** How a process ended: by itself, or by a signal. */
export type Ending = { readonly code: number } | { readonly signal: number }

/** How a process ended that this one started without libuv; undefined while it runs. The process is reaped. */
export const endingOf = (pid: number): Ending | undefined => {
  const status: [number] = [0]
  if (requireSuccess('waitpid', waitpid(pid, status, noHang)) === 0) return undefined
  const signal = status[0] & 0x7f
  if (signal !== 0) return { signal }
  // The first process of a node reports the signal of its program as sh does.
  return endingOfCode(status[0] >> 8)
}

/**
 * The end of a program whose exit code came through a shell or an engine: after a signal, it is 128 plus its number.
 */
export const endingOfCode = (code: number): Ending => (code > 128 ? { signal: code - 128 } : { code })
