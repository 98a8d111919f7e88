import { readFileSync } from 'node:fs'

/** What is seen of a worker and of this machine at some time. Times are counted from any begin. */
export interface Look {
  readonly ms: number
  /** CPU time that the worker and its nodes have had. */
  readonly hadMs: number
  /** Whether one of them is ready to run, or runs. */
  readonly isReady: boolean
  /** By CPU, for how long it has had nothing to do. */
  readonly idleMs: ReadonlyMap<number, number>
}

/** With less than this share of the time of its CPU, a worker that is ready to run is starved. */
const hadShareMax = 0.25
/** A CPU that has nothing to do for this share of the time has room for it. With less, all are as busy. */
const idleShareMin = 0.1
/** So many looks in a row find it starved before it counts: a worker starts anew elsewhere, which takes a second. */
const looksMin = 6

/** Decides when a worker should go on on another CPU, because something else, as a real-time program, has all of its own. */
export class Starvation {
  readonly #cpu: number
  readonly #cpus: readonly number[]
  #looks: Look[] = []

  /** @param cpus that it may use instead */
  constructor(cpu: number, cpus: readonly number[]) {
    this.#cpu = cpu
    this.#cpus = cpus
  }

  /** The CPU to go on on; `undefined` where it has its share, or there is no better one. */
  look(look: Look): number | undefined {
    const last = this.#looks.at(-1)
    const isStarved = last && look.isReady && look.hadMs - last.hadMs < hadShareMax * (look.ms - last.ms)
    this.#looks = isStarved ? [...this.#looks, look].slice(-looksMin - 1) : [look]
    return this.#looks.length > looksMin ? this.#idlest() : undefined
  }

  #idlest(): number | undefined {
    // Each second counts: a CPU may have been taken meanwhile.
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
 * Tells once a worker is starved, and on which CPU it would not be.
 *
 * @returns what ends the watch
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

/** What the kernel counts time in for programs. */
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
  // The name of the program stands in brackets, and may contain more of them.
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
