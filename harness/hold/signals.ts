import { readProc } from './read-proc.ts'

const signalsMax = 64

/** How a process treats signals: those that it ignores or catches; and lines that say which are pending. */
export const signalsOf = (pid: number): { readonly treated: readonly number[]; readonly pending: string } => {
  const status = readProc(`/proc/${pid}/status`)
  const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):.*$/gm)].join()
  return { treated: signalsIn(status.matchAll(/^Sig(?:Ign|Cgt):\s*([0-9a-f]+)$/gm)), pending }
}

const signalsIn = (lines: Iterable<RegExpExecArray>): number[] => {
  const treated = [...lines].reduce((all, [, mask]) => all | BigInt(`0x${mask}`), 0n)
  return Array.from({ length: signalsMax }, (_, index) => index + 1).filter(
    signal => (treated >> BigInt(signal - 1)) & 1n,
  )
}

/** SIGCHLD, SIGCONT, SIGURG, SIGWINCH, and those that stop: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU. */
const harmless: ReadonlySet<number> = new Set([17, 18, 23, 28, 19, 20, 21, 22])
/** SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS: what the kernel sends for what a thread has done. */
const faults: ReadonlySet<number> = new Set([4, 5, 7, 8, 11, 31])

/**
 * Whether a signal ends a process that is the first of its pid namespace, and traced: the kernel spares it, whatever the
 * signal. Where it is no container it would not be the first; and faults end one that is not traced.
 */
export const endsFirst = (pid: number, signal: number, isContainer: boolean): boolean =>
  !harmless.has(signal) && (!isContainer || faults.has(signal)) && !signalsOf(pid).treated.includes(signal)
