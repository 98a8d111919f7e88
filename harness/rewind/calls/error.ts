/** A process cannot be marked, or rewound to its mark. It is then started again. */
export class CannotRewind extends Error {
  override readonly name = 'CannotRewind'

  /**
   * @param reason may contain a pipe's or socket's name from `/proc`; its number is removed, so that equal reasons look
   * equal
   */
  constructor(reason: string) {
    super(reason.replace(/\b(pipe|socket):\[\d+\]/g, 'a $1'))
  }
}
