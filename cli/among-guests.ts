import { whileUninterrupted } from './interrupt.ts'
import { strays } from './stray.ts'
import { watchCalls } from './watchdog.ts'

/**
 * Does some work in which code of a configuration runs. Its signal is aborted by whoever asks this program to end, and by
 * what that code threw where nobody catches it, which is the error of this work then.
 */
export const amongGuests = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> =>
  whileUninterrupted(async interrupt => {
    const unwatch = watchCalls()
    try {
      const result = await work(AbortSignal.any([interrupt, strays.signal]))
      strays.check()
      return result
    } finally {
      unwatch()
    }
  })
