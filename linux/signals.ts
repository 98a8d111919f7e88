import { readKernelFile } from './kernel-file.ts'

const signalsMax = 64

export const procStatusOf = (pid: number): string => readKernelFile(`/proc/${pid}/status`)

/**
 * Signals that a process ignores or catches, and lines that show which are pending.
 *
 * @param status content of its /proc/P/status
 */
export const signalsIn = (status: string): { readonly treated: readonly number[]; readonly pending: string } => {
  const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):.*$/gm)].join()
  return { treated: numbersIn(status.matchAll(/^Sig(?:Ign|Cgt):\s*([0-9a-f]+)$/gm)), pending }
}

/** Signals that are pending for a process, or for this thread of it alone. */
export const pendingSignals = (pid: number, tid: number): ReadonlySet<number> =>
  new Set(numbersIn([...linesOf(pid, 'ShdPnd'), ...linesOf(tid, 'SigPnd')]))

const linesOf = (tid: number, name: string): Iterable<RegExpExecArray> => {
  try {
    return procStatusOf(tid).matchAll(new RegExp(`^${name}:\\s*([0-9a-f]+)$`, 'gm'))
  } catch {
    // It has ended.
    return []
  }
}

/** Whether a process has a handler for a signal. */
export const isCaught = (pid: number, signal: number): boolean => numbersIn(linesOf(pid, 'SigCgt')).includes(signal)

/** Whether a process has a handler for any signal. */
export const catchesAny = (pid: number): boolean => numbersIn(linesOf(pid, 'SigCgt')).length > 0

const numbersIn = (lines: Iterable<RegExpExecArray>): number[] => {
  const treated = [...lines].reduce((all, [, mask]) => all | BigInt(`0x${mask}`), 0n)
  return Array.from({ length: signalsMax }, (_, index) => index + 1).filter(
    signal => (treated >> BigInt(signal - 1)) & 1n,
  )
}

/** SIGCHLD, SIGCONT, SIGURG, SIGWINCH, and stopping signals: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU. */
const harmless: ReadonlySet<number> = new Set([17, 18, 23, 28, 19, 20, 21, 22])
/** SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS: sent by the kernel for a fault of the thread itself. */
const faults: ReadonlySet<number> = new Set([4, 5, 7, 8, 11, 31])

/** SIGHUP, SIGINT, SIGPIPE, SIGTERM: by them somebody ends a process that works. */
export const polite: ReadonlySet<number> = new Set([1, 2, 13, 15])

/**
 * Whether a signal must end a traced process that is the first of its pid namespace: the kernel spares it, whatever the
 * signal. Without this tool, a process outside a container would not be the first, so the signal would end it. In a
 * container it would be first too, and only faults would end it, because it would not be traced.
 */
export const endsFirst = (pid: number, signal: number, isContainer: boolean): boolean =>
  !harmless.has(signal) &&
  (!isContainer || faults.has(signal)) &&
  !signalsIn(procStatusOf(pid)).treated.includes(signal)
