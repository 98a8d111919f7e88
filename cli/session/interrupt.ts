import { countingSignals } from '../../harness/hold/turns/interruption.ts'

/** Runs work whose signal is aborted by SIGINT, SIGTERM or SIGHUP. */
export const whileUninterrupted = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
  const interrupt = new AbortController()
  return countingSignals(
    () => interrupt.abort(),
    () => work(interrupt.signal),
  )
}
