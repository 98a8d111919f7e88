/**
 * Milliseconds that a message may take on a usual network, and that clocks may be apart on usual machines. A violation
 * that needs more is reported as such, and recovery only on a slower network does not count as recovery.
 */
export const slowMs = 1000
