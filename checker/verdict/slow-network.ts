/**
 * A network may be so slow without anybody wondering. A violation that needs a slower one is told as such; and what recovers in
 * a slower one alone does not recover in life.
 */
export const slowMs = 1000
