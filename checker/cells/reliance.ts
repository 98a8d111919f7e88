import type { Cells } from './cells.ts'

/** What a search relies on although it may keep executions from repeating. It is given up step by step if they do not repeat. */
export class Reliance {
  readonly #cells: Cells
  #isLess = false
  #hasLongTurns = false

  constructor(cells: Cells) {
    this.#cells = cells
  }

  /** Whether anything was given up. */
  get isLess(): boolean {
    return this.#isLess
  }

  /** Gives up the next step. Returns how executions are done from now on, `undefined` if nothing is left to give up. */
  async giveUpNext(): Promise<string | undefined> {
    return this.#note((await this.#beginAnew()) ?? (await this.#leaveLessToChance()))
  }

  /** Lets a thread that computes go on for longer: it is cut short at an instruction of chance. */
  async lengthenTurns(): Promise<string | undefined> {
    if (this.#hasLongTurns) return undefined
    this.#hasLongTurns = true
    return this.#note((await this.#cells.lengthenTurns()) ? longTurns : undefined)
  }

  async #beginAnew(): Promise<string | undefined> {
    return (await this.#cells.stopRewinding()) ? 'with new processes for each execution' : undefined
  }

  async #leaveLessToChance(): Promise<string | undefined> {
    this.#hasLongTurns = true
    const changes = [(await this.#cells.keepOne()) && 'by one worker', (await this.#cells.lengthenTurns()) && longTurns]
    return changes.filter(change => change !== false).join(', ') || undefined
  }

  #note(how: string | undefined): string | undefined {
    this.#isLess ||= how !== undefined
    return how
  }
}

const longTurns = 'with turns of up to 5 s for a thread that computes'
