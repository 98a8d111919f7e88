/** Ctrl-C, a polite kill, a terminal that is closed. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Does some work that can be asked to end: its signal is aborted then. */
export const whileUninterrupted = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
  const interrupt = new AbortController()
  const stop = () => interrupt.abort()
  for (const signal of signals) process.on(signal, stop)
  try {
    return await work(interrupt.signal)
  } finally {
    for (const signal of signals) process.off(signal, stop)
  }
}
