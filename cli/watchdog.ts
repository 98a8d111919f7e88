import inspector from 'node:inspector'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { calls, nameBytesMax, names } from '../checker/guest.ts'
import { exitCode } from './exit-code.ts'

/** What computes for longer than this without a pause, in real time, does so for ever: most calls take microseconds. */
const msMax = 10_000
const lookMs = 500

/**
 * Watches, from a thread of its own, what is called of a configuration: a predicate, client or observer that computes for
 * ever cannot be ended by the thread that it runs on. The process ends then, with a line that names it.
 *
 * To be called before this thread is pinned to a CPU: the watchdog then has the others. Where there is only one, the kernel
 * leaves it the twentieth part that no real-time thread may take.
 *
 * @returns what ends the watch
 */
export const watchCalls = (): (() => void) => {
  // Whoever stands at a breakpoint thinks for as long as he likes.
  if (inspector.url() !== undefined) return () => undefined
  const koffi = createRequire(import.meta.url).resolve('koffi')
  const workerData: Watched = { calls, names, nameBytesMax, msMax, lookMs, koffi, code: exitCode.usage }
  const thread = new Worker(`(${watch})(require('node:worker_threads').workerData, require)`, {
    eval: true,
    workerData,
    execArgv: [],
  })
  thread.unref()
  return () => void thread.terminate()
}

interface Watched {
  readonly calls: Int32Array
  readonly names: Uint8Array
  readonly nameBytesMax: number
  readonly msMax: number
  readonly lookMs: number
  /** Path of the package. */
  readonly koffi: string
  /** That the process ends with. */
  readonly code: number
}

/** The program of the thread. It is handed over as text, so it can use nothing of this module. */
const watch = (watched: Watched, require: NodeJS.Require): void => {
  const { writeSync }: typeof import('node:fs') = require('node:fs')
  const { calls, names, nameBytesMax, msMax, lookMs, koffi, code } = watched
  let seen = 0
  let since = 0
  setInterval(() => {
    const count = Atomics.load(calls, 0)
    const now = performance.now()
    if (count % 2 === 0 || count !== seen) {
      seen = count
      since = now
    } else if (now - since > msMax) end(Atomics.load(calls, 1))
  }, lookMs)

  const end = (number: number) => {
    const bytes = names.slice(number * nameBytesMax, (number + 1) * nameBytesMax)
    const name = new TextDecoder().decode(bytes).replaceAll('\0', '')
    writeSync(2, `lastnail: ${name} computes without an end: it has not returned after ${msMax / 1000} s\n`)
    // Unlike process.exit, which would end this thread alone, it ends all of the process at once, and its nodes with it.
    // What it leaves on the disk the next run removes, as after any kill.
    require(koffi).load(null).func('void _exit(int code)')(code)
  }
}
