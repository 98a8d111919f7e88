/** What is as it is cannot be saved, or not be brought back: the way there has to be executed again. */
export class CannotCheckpoint extends Error {
  override readonly name = 'CannotCheckpoint'
}
