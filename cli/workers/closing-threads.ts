/**
 * libuv's threads close the TUNs of a worker's nodes, and the kernel makes each wait for up to 50 ms: with its four threads,
 * the end of a worker would take a third of a second.
 */
const name = 'UV_THREADPOOL_SIZE'
const threads = '32'

/** The environment of a worker process, which has as many threads unless somebody asked for another number. */
export const withClosingThreads = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  [name]: threads,
  ...environment,
})

/** Call it first in a worker: its configuration must find the same environment as that of the command. */
export const forgetClosingThreads = (): void => {
  if (process.env[name] === threads) delete process.env[name]
}
