/**
 * Why a trace cannot be read.
 *
 * `missing`: the file does not exist or cannot be opened · `foreign`: it is not a trace · `newer`: a later format ·
 * `torn`: the tool ended while writing it · `damaged`: its bytes have changed since they were written.
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
