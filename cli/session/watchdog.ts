import inspector from 'node:inspector'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { calls, nameBytesMax, names } from '../../checker/system/guest.ts'
import { exitCode } from '../command/exit-code.ts'

/**
 * A call that computes or sleeps for longer than this counts as endless. Most calls take microseconds. Time for which
 * other programs have the CPU does not count.
 */
const msMax = 10_000
const lookMs = 500

/**
 * Watches the calls of a configuration from a thread of its own. If a predicate, client or observer computes for ever,
 * the thread on which it runs cannot end it; the watchdog then ends the process with a line that names the call.
 *
 * Call it before this thread is pinned to a CPU, so that the watchdog may use the others. With only one CPU, the kernel
 * reserves a twentieth of it, which no real-time thread may take.
 *
 * @returns a function that ends the watch
 */
export const watchCalls = (): (() => void) => {
  // At a breakpoint of a debugger, a call may take any time.
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
  /** Path of the koffi package. */
  readonly koffi: string
  /** Exit code of the process. */
  readonly code: number
}

/** The thread's program. It is passed as text, so it can use nothing of this module. */
const watch = (watched: Watched, require: NodeJS.Require): void => {
  const { readFileSync, writeSync }: typeof import('node:fs') = require('node:fs')
  const { calls, names, nameBytesMax, msMax, lookMs, koffi, code } = watched
  const watchedThread = `/proc/self/task/${process.pid}/stat`
  // Linux counts a thread's CPU time in these, whatever its clock's rate is.
  const msPerTick = 10
  const look = () => {
    const stat = readFileSync(watchedThread, 'latin1')
    // The name, the second field, may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return {
      isReady: fields[0] === 'R',
      cpuMs: (Number(fields[11]) + Number(fields[12])) * msPerTick,
      at: performance.now(),
    }
  }

  let seen = 0
  let spentMs = 0
  let last = look()
  setInterval(() => {
    const count = Atomics.load(calls, 0)
    const now = look()
    const isSame = count % 2 === 1 && count === seen
    spentMs = isSame ? spentMs + (now.isReady ? now.cpuMs - last.cpuMs : now.at - last.at) : 0
    seen = count
    last = now
    if (spentMs > msMax) end(Atomics.load(calls, 1))
  }, lookMs)

  const end = (number: number) => {
    const bytes = names.slice(number * nameBytesMax, (number + 1) * nameBytesMax)
    const name = new TextDecoder().decode(bytes).replaceAll('\0', '')
    writeSync(2, `lastnail: ${name} computes without an end: it has not returned after ${msMax / 1000} s\n`)
    // Unlike process.exit, which would end only this thread, _exit ends the whole process and its nodes at once. The
    // next run removes what remains on the disk, as after any kill.
    require(koffi).load(null).func('void _exit(int code)')(code)
  }
}
