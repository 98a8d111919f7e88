/** A state cannot be saved or restored. The schedule to it must be executed again. */
export class CannotCheckpoint extends Error {
  override readonly name = 'CannotCheckpoint'
}
