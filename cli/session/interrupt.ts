import { countingSignals } from '../../harness/hold/turns/interruption.ts'

/** Does some work that the user can interrupt. Its signal is then aborted. */
export const whileUninterrupted = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
  const interrupt = new AbortController()
  return countingSignals(
    () => interrupt.abort(),
    () => work(interrupt.signal),
  )
}
