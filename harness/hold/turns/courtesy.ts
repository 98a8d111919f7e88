/** Environment variable with the share, for this process and those that it starts. */
export const shareVariable = 'LASTNAIL_SHARE'

/** Milliseconds between turns of this machine's other programs while nodes are busy. Fewer would slow the nodes down. */
const betweenTurnsMs = 10
/** The part of a CPU's time that this process and its nodes have at least while other programs want it too. */
const shareDefault = 0.5
/** Programs on which the nodes depend may need the same CPU: the Docker engine, say. */
export const shareMax = 0.95

/**
 * When this thread gives way to the machine's other programs, which have no turn among the nodes otherwise. The longer they had the CPU, the
 * later they have it again, so that a busy machine does not take more than its share.
 */
export class Courtesy {
  readonly #share: number
  #dueMs = 0

  /** @param share at most `shareMax` */
  constructor(share = shareOf(process.env[shareVariable])) {
    this.#share = share
  }

  isDueAt(nowMs: number): boolean {
    return nowMs >= this.#dueMs
  }

  /** Notes that others have had the CPU. */
  hasGivenWay(fromMs: number, untilMs: number): void {
    const owedMs = ((untilMs - fromMs) * this.#share) / (1 - this.#share)
    this.#dueMs = untilMs + Math.max(betweenTurnsMs, owedMs)
  }
}

const shareOf = (text = ''): number => {
  const share = Number.parseFloat(text)
  return share >= 0 ? Math.min(share, shareMax) : shareDefault
}
