/** Thrown where a process cannot be marked, or brought back to its mark: it is then started anew. */
export class CannotRewind extends Error {
  override readonly name = 'CannotRewind'
}
