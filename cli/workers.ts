import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Progress } from '../checker/check.ts'
import { mergeVerdicts } from '../checker/merge.ts'
import type { Verdict } from '../checker/verdict.ts'
import { WorkerFailed } from './exit-code.ts'
import type { CheckOptions } from './options.ts'
import type { Order, Report } from './worker.ts'

const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

/** The CPUs that this process may run on. To be asked before it is pinned to one. */
export const allowedCpus = (): number[] => {
  const [, list] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/thread-self/status', 'latin1'))!
  return list!.split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number) as [number, number?]
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/**
 * Searches in several processes, each from a seed of its own. The first violation that one of them has examined ends the
 * search of all; what they did is counted together.
 *
 * @param cpus what the workers are pinned to, by turns
 * @throws WorkerFailed
 */
export const searchInWorkers = async (
  file: string,
  { signal, onProgress, ...options }: CheckOptions,
  { count, cpus }: { count: number; cpus: readonly number[] },
): Promise<Verdict> => {
  const progress: Progress[] = []
  const workers = Array.from({ length: count }, (_, index) => {
    const order: Order = { file, options, share: { index, count }, cpu: cpus[index % cpus.length]! }
    return new Worker(order, mine => {
      progress[index] = mine
      onProgress?.(together(progress.filter(one => one !== undefined)))
    })
  })
  const stop = () => {
    for (const worker of workers) worker.stop()
  }
  signal?.addEventListener('abort', stop)
  const end = async (worker: Worker) => {
    const verdict = await worker.verdict
    if (verdict.verdict === 'violated') stop()
    return verdict
  }
  try {
    return mergeVerdicts(await Promise.all(workers.map(end)))
  } finally {
    signal?.removeEventListener('abort', stop)
    stop()
    await Promise.allSettled(workers.map(worker => worker.verdict))
  }
}

class Worker {
  readonly verdict: Promise<Verdict>
  readonly #process: ChildProcess

  constructor(order: Order, onProgress: (progress: Progress) => void) {
    // What a configuration prints must not come after the command's own last line.
    this.#process = fork(program, { stdio: ['ignore', 2, 2, 'ipc'] })
    this.#process.send(order)
    this.verdict = new Promise((resolve, reject) => {
      this.#process.on('message', message => {
        const report = message as Report
        if ('progress' in report) onProgress(report.progress)
        else if ('verdict' in report) resolve(report.verdict)
        else reject(new WorkerFailed(report.failed))
      })
      this.#process.on('exit', (code, killedBy) => {
        reject(new Error(`a worker ended ${killedBy ? `by ${killedBy}` : `with code ${code}`} before its search did`))
      })
    })
    // Told to whoever asks; until then it is nobody's unhandled rejection.
    this.verdict.catch(() => undefined)
  }

  /** Ends its search; it then says what it found so far. */
  stop(): void {
    if (this.#process.connected) this.#process.send('stop')
  }
}

const together = (all: readonly Progress[]): Progress => {
  const sum = (what: (one: Progress) => number) => all.reduce((total, one) => total + what(one), 0)
  return {
    phase: all.find(({ phase }) => phase !== 'searching')?.phase ?? 'searching',
    executions: sum(({ executions }) => executions),
    steps: sum(({ steps }) => steps),
    states: sum(({ states }) => states),
    depth: Math.max(...all.map(({ depth }) => depth)),
    seconds: Math.max(...all.map(({ seconds }) => seconds)),
  }
}
