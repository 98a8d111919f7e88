import { whileUninterrupted } from './interrupt.ts'
import { strays } from './stray.ts'
import { watchCalls } from './watchdog.ts'

/**
 * Does some work that runs code of a configuration. The work's signal is aborted when somebody asks this program to
 * end, or when that code throws where nothing catches it. In the latter case the work rejects with that error.
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
