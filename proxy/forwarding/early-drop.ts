/** Drops packets before a queue is full. */
export interface EarlyDrop {
  /**
   * Whether a packet that arrives now is dropped. Times are milliseconds.
   *
   * @param share of the queue that is full
   * @param waitMs until it would be sent
   * @param sendMs that sending it takes
   */
  drops(now: number, share: number, waitMs: number, sendMs: number): boolean
}
