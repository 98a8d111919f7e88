import { countingSignals } from '../harness/hold/interruption.ts'

/** Does some work that can be asked to end: its signal is aborted then. */
export const whileUninterrupted = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
  const interrupt = new AbortController()
  return countingSignals(
    () => interrupt.abort(),
    () => work(interrupt.signal),
  )
}
