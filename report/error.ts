/** A report that cannot be written; `message` is one line for the person who asked for it. */
export class ReportError extends Error {
  override readonly name = 'ReportError'
}
