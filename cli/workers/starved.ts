import { readFileSync } from 'node:fs'

/** An observation of a worker and this machine. Times count from any origin. */
export interface CpuLook {
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
 * A worker that gets less than this share in each observation moves even if no other CPU is idle: anywhere else is better.
 * Beside a real-time program that never waits, the kernel leaves 5 % of each second to all others.
 */
const nothingShareMax = 0.1
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
  #looks: CpuLook[] = []
  /** For how long it has been starved, in milliseconds. */
  starvedMs = 0

  /** @param cpus to which it may move */
  constructor(cpu: number, cpus: readonly number[]) {
    this.#cpu = cpu
    this.#cpus = cpus
  }

  /** The CPU to which it should move; `undefined` if it has its share, or no other CPU is better. */
  look(look: CpuLook): number | undefined {
    const last = this.#looks.at(-1)
    const isStarved = last && look.isReady && hadShare(last, look) < hadShareMax
    if (isStarved) this.starvedMs += look.ms - last.ms
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
    return best !== undefined && (shareOf(best) >= idleShareMin || this.#hasNothing()) ? best : undefined
  }

  #hasNothing(): boolean {
    return this.#looks.slice(1).every((look, index) => hadShare(this.#looks[index]!, look) < nothingShareMax)
  }
}

const hadShare = (before: CpuLook, look: CpuLook): number => (look.hadMs - before.hadMs) / (look.ms - before.ms)

const lookMs = 1000

/** Observes a process, and calls back once it is starved, with a better CPU. */
export class StarvationWatch {
  readonly cpu: number
  readonly #pid: number | undefined
  readonly #starvation: Starvation
  readonly #timer: NodeJS.Timeout

  constructor(pid: number | undefined, cpu: number, cpus: readonly number[], onStarved: (better: number) => void) {
    this.cpu = cpu
    this.#pid = pid
    this.#starvation = new Starvation(cpu, cpus)
    this.look()
    this.#timer = setInterval(() => {
      const better = this.look()
      if (better === undefined) return
      this.end()
      onStarved(better)
    }, lookMs)
    this.#timer.unref()
  }

  /** Observes once more, out of turn. */
  look(): number | undefined {
    return this.#starvation.look(lookAt(this.#pid))
  }

  /** For how long the process has been starved, in milliseconds. */
  get starvedMs(): number {
    return this.#starvation.starvedMs
  }

  end(): void {
    clearInterval(this.#timer)
  }
}

/** Shorter times without a CPU are not worth a note. */
const notedMsMin = 3000

/** A line about a check whose CPUs others used; undefined if they did so for a short time only. */
export const describeStarved = (watches: readonly StarvationWatch[]): string[] => {
  const starvedMs = new Map<number, number>()
  for (const { cpu, starvedMs: more } of watches) starvedMs.set(cpu, Math.max(starvedMs.get(cpu) ?? 0, more))
  const long = [...starvedMs].filter(([, ms]) => ms >= notedMsMin)
  if (long.length === 0) return []
  const cpus = long.map(([cpu, ms]) => `CPU ${cpu} for ${Math.round(ms / 1000)} s`).join(', ')
  return [`other programs used ${cpus}: less was searched than this machine could in that time`]
}

/** Unit in which the kernel reports times in /proc. */
const tickMs = 10

const lookAt = (pid: number | undefined): CpuLook => {
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
  // Its own CPU time and that of its children that have ended: utime, stime, cutime, cstime.
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0)
  return { hadMs: tickMs * ticks, isReady: fields[0] === 'R' }
}

const idleTimes = (): Map<number, number> =>
  new Map(
    Array.from(read('/proc/stat').matchAll(/^cpu(\d+) \d+ \d+ \d+ (\d+)/gm), ([, cpu, idle]) => [
      Number(cpu),
      tickMs * Number(idle),
    ]),
  )
