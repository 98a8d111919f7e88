import type { Pipe } from './pipe.ts'

/** The path from one host to another. */
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

  /** Puts one more pipe before the others. */
  putBefore(extra: Pipe | undefined): void {
    this.pipes = extra ? [extra, ...this.#pipes] : this.#pipes
  }
}
