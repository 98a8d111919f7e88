import type { Pipe } from './pipe.ts'

/** From one host to another. */
export class Path {
  readonly to: number
  readonly #pipes: readonly Pipe[]
  /** In the order in which packets pass them. */
  pipes: readonly Pipe[]
  isCut = false

  constructor(to: number, pipes: readonly Pipe[]) {
    this.to = to
    this.#pipes = pipes
    this.pipes = pipes
  }

  /** One more pipe before its own. */
  putBefore(extra: Pipe | undefined): void {
    this.pipes = extra ? [extra, ...this.#pipes] : this.#pipes
  }
}
