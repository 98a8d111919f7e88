/**
 * Why a trace cannot be read.
 * `missing`: there is no such file, or it cannot be opened · `foreign`: not a trace · `newer`: of a later format ·
 * `torn`: the tool ended while it wrote · `damaged`: bytes are not those that were written.
 */
export type TraceErrorReason = 'missing' | 'foreign' | 'newer' | 'torn' | 'damaged'

/** A trace that cannot be read; `message` is one line for the person who asked for it. */
export class TraceError extends Error {
  override readonly name = 'TraceError'
  readonly reason: TraceErrorReason

  constructor(reason: TraceErrorReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
