import type { Choice } from '../system/system.ts'

/** A call that ended: in which situation its client made it, and whether it failed. */
export interface CallResult {
  /** The client, and what could be seen of the nodes. */
  readonly where: string
  readonly failed: boolean
}

/**
 * A client is known to call in vain in a situation after this many calls, if all of them failed. With fewer, one that
 * was unlucky would be kept from calling; with more, a short check would not learn it.
 */
const failedMin = 4
/** Situations that are known at most: all of them are sent with each execution. */
const knownMax = 1_000

/** What calls came to, by the situation in which they were made. */
export class CallResults {
  readonly #counts = new Map<string, { failed: number; returned: number }>()
  #vain: readonly string[] | undefined

  learn(results: readonly CallResult[]): void {
    for (const { where, failed } of results) {
      const counts = this.#counts.get(where) ?? { failed: 0, returned: 0 }
      if (!this.#counts.has(where) && this.#counts.size >= knownMax) continue
      this.#counts.set(where, counts)
      if (failed) counts.failed += 1
      else counts.returned += 1
      this.#vain = undefined
    }
  }

  /** Where calls only ever failed. */
  get vain(): readonly string[] {
    this.#vain ??= [...this.#counts].flatMap(([where, { failed, returned }]) =>
      returned === 0 && failed >= failedMin ? [where] : [],
    )
    return this.#vain
  }
}

/** Where a call is made. */
export const callAt = ({ label }: Choice, situation: string): string => `${label} ${situation}`

/** One in this many walks makes calls that are known to fail: such a call may do harm all the same. */
const heedlessIn = 4

export const isHeedless = (seed: number): boolean => seed % heedlessIn === 0

/** The enabled choices without calls that only ever failed in this situation; all of them if only faults would be left. */
export const withoutVainCalls = (
  enabled: readonly Choice[],
  situation: () => string | undefined,
  vain: ReadonlySet<string>,
): readonly Choice[] => {
  if (vain.size === 0 || !enabled.some(isCall)) return enabled
  const here = situation()
  if (here === undefined) return enabled
  const others = enabled.filter(choice => !isCall(choice) || !vain.has(callAt(choice, here)))
  return others.some(({ kind }) => kind === 'deliver' || kind === 'timer' || kind === 'client') ? others : enabled
}

const isCall = ({ kind }: Choice): boolean => kind === 'client'
