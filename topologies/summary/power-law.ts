/** y = factor * x^exponent, and how well that fits: the correlation of the logarithms. */
export interface PowerLaw {
  readonly exponent: number
  readonly factor: number
  readonly correlation: number
}

/**
 * The line of least squares through the logarithms of points, those with a y of 0 left out; `null` for less than three
 * different x.
 */
export const fitPowerLaw = (points: readonly (readonly [x: number, y: number])[]): PowerLaw | null => {
  const logs = points.filter(([, y]) => y > 0).map(([x, y]) => [Math.log(x), Math.log(y)] as const)
  if (new Set(logs.map(([x]) => x)).size < 3) return null
  const mean = (value: (log: readonly [number, number]) => number) =>
    logs.reduce((sum, log) => sum + value(log), 0) / logs.length
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)]
  const varianceX = mean(([x]) => (x - meanX) ** 2)
  const varianceY = mean(([, y]) => (y - meanY) ** 2)
  const covariance = mean(([x, y]) => (x - meanX) * (y - meanY))
  if (varianceY === 0) return null
  const exponent = covariance / varianceX
  return {
    exponent,
    factor: Math.exp(meanY - exponent * meanX),
    correlation: covariance / Math.sqrt(varianceX * varianceY),
  }
}
