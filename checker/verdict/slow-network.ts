/**
 * Milliseconds that a message may take on a usual network. A violation that needs a slower one is reported as such, and
 * recovery only on a slower one does not count as recovery.
 */
export const slowMs = 1000
