import { readFileSync } from 'node:fs'

/** An observation of a worker and this machine. Times count from any origin. */
export interface Look {
  readonly ms: number
  /** CPU time used by the worker and its nodes. */
  readonly hadMs: number
  /** Whether one of them is running or ready to run. */
  readonly isReady: boolean
  /** By CPU, how long it has been idle. */
  readonly idleMs: ReadonlyMap<number, number>
}

/** A worker that is ready to run but gets less than this share of its CPU is starved. */
const hadShareMax = 0.25
/**
 * A CPU that is idle for at least this share of the time can take a worker. If it were lower, workers would move
 * between equally busy CPUs.
 */
const idleShareMin = 0.1
/**
 * This many starved observations in a row are needed before a worker is moved, because restarting it elsewhere takes a
 * second.
 */
const looksMin = 6

/**
 * Decides when a worker should move to another CPU because something else, such as a real-time program, uses up its
 * own.
 */
export class Starvation {
  readonly #cpu: number
  readonly #cpus: readonly number[]
  #looks: Look[] = []

  /** @param cpus to which it may move */
  constructor(cpu: number, cpus: readonly number[]) {
    this.#cpu = cpu
    this.#cpus = cpus
  }

  /** The CPU to which it should move; `undefined` if it has its share, or no other CPU is better. */
  look(look: Look): number | undefined {
    const last = this.#looks.at(-1)
    const isStarved = last && look.isReady && look.hadMs - last.hadMs < hadShareMax * (look.ms - last.ms)
    this.#looks = isStarved ? [...this.#looks, look].slice(-looksMin - 1) : [look]
    return this.#looks.length > looksMin ? this.#idlest() : undefined
  }

  #idlest(): number | undefined {
    // The minimum over all observations, because a CPU may have been taken in any of them.
    const shareOf = (cpu: number) =>
      Math.min(
        ...this.#looks.slice(1).map(({ ms, idleMs }, index) => {
          const before = this.#looks[index]!
          return ((idleMs.get(cpu) ?? 0) - (before.idleMs.get(cpu) ?? 0)) / (ms - before.ms)
        }),
      )
    const others = this.#cpus.filter(cpu => cpu !== this.#cpu)
    const [best] = others.toSorted((one, other) => shareOf(other) - shareOf(one))
    return best !== undefined && shareOf(best) >= idleShareMin ? best : undefined
  }
}

const lookMs = 1000

/**
 * Calls back once a worker is starved, with a better CPU.
 *
 * @returns a function that ends the watch
 */
export const whenStarved = (
  pid: number | undefined,
  cpu: number,
  cpus: readonly number[],
  onStarved: (better: number) => void,
): (() => void) => {
  const starvation = new Starvation(cpu, cpus)
  const watch = setInterval(() => {
    const better = starvation.look(lookAt(pid))
    if (better === undefined) return
    clearInterval(watch)
    onStarved(better)
  }, lookMs)
  watch.unref()
  return () => clearInterval(watch)
}

/** Unit in which the kernel reports times in /proc. */
const tickMs = 10

const lookAt = (pid: number | undefined): Look => {
  const all = [pid, ...childrenOf(pid)].map(used)
  return {
    ms: performance.now(),
    hadMs: all.reduce((sum, { hadMs }) => sum + hadMs, 0),
    isReady: all.some(({ isReady }) => isReady),
    idleMs: idleTimes(),
  }
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // it has ended
  }
}

const childrenOf = (pid: number | undefined): number[] =>
  read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

const used = (pid: number | undefined): { readonly hadMs: number; readonly isReady: boolean } => {
  // The program's name is in parentheses and may contain more of them.
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')
  const [state, user = 0, system = 0] = [fields[0], fields[11], fields[12]]
  return { hadMs: tickMs * (Number(user) + Number(system)), isReady: state === 'R' }
}

const idleTimes = (): Map<number, number> =>
  new Map(
    Array.from(read('/proc/stat').matchAll(/^cpu(\d+) \d+ \d+ \d+ (\d+)/gm), ([, cpu, idle]) => [
      Number(cpu),
      tickMs * Number(idle),
    ]),
  )
