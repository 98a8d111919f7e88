import type { VisitorListener } from '../clients/visitors.ts'

/** Holds what a step answers to visitors until it is certain that the step belongs to the run. */
export class HeldAnswers implements VisitorListener {
  readonly #listener: VisitorListener
  #held: (() => void)[] = []

  constructor(listener: VisitorListener) {
    this.#listener = listener
  }

  onData(visitor: number, bytes: Buffer): void {
    this.#held.push(() => this.#listener.onData(visitor, bytes))
  }

  onEnd(visitor: number, how: 'end' | 'lost'): void {
    this.#held.push(() => this.#listener.onEnd(visitor, how))
  }

  give(): void {
    for (const give of this.#held.splice(0)) give()
  }

  discard(): void {
    this.#held = []
  }
}
