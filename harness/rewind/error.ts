/** Thrown where a process cannot be marked, or brought back to its mark: it is then started anew. */
export class CannotRewind extends Error {
  override readonly name = 'CannotRewind'

  /** @param reason in which a pipe or a socket may be named as `/proc` does: its number would make one reason look like many */
  constructor(reason: string) {
    super(reason.replace(/\b(pipe|socket):\[\d+\]/g, 'a $1'))
  }
}
