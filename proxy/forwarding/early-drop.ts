/** Drops packets before a queue is full. */
export interface EarlyDrop {
  /**
   * Whether to drop a packet that arrives now. Times are in milliseconds.
   *
   * @param share of the queue that is full
   *
   * @param waitMs until it would be sent
   *
   * @param sendMs time to send it
   */
  drops(now: number, share: number, waitMs: number, sendMs: number): boolean
  /** Another one in the same state. @param random its random numbers from now on */
  copy(random: () => number): EarlyDrop
}
