import { readFileSync } from 'node:fs'

/** Above this share of a run, what is measured is the machine's load as much as the service. */
const shareMax = 0.2

/** The time that some program of this machine has waited for a CPU while others ran, in milliseconds; `undefined` where the kernel does not tell. */
export type Waited = () => number | undefined

/** The kernel's pressure stall information. */
export const waitedForCpu: Waited = () => {
  try {
    const [, microseconds] = /^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'latin1')) ?? []
    return microseconds === undefined ? undefined : Number(microseconds) / 1000
  } catch {
    return undefined
  }
}

/** Watches, from now on, whether a run on this machine's clock has the CPUs that it needs. */
export const watchCpus = (waited: Waited = waitedForCpu, now: () => number = () => performance.now()) => {
  const [begun, before] = [now(), waited()]
  /** A line about how far the figures can be trusted; undefined if programs hardly waited for a CPU. */
  return (): string[] => {
    const after = waited()
    if (before === undefined || after === undefined)
      return [
        'this kernel does not tell whether programs waited for a CPU (/proc/pressure/cpu): whether the figures of time are to be trusted is not known',
      ]
    const share = (after - before) / Math.max(1, now() - begun)
    if (share <= shareMax) return []
    return [
      `in ${Math.round(100 * share)} % of the time, programs waited for a CPU, so nodes computed for longer than they would alone: the figures of time are not to be trusted`,
    ]
  }
}
