/**
 * The statistic of Kolmogorov and Smirnov, times the root of the sample's size: the greatest distance between what was
 * drawn and what should be. Above 1.95 in one of a thousand samples of the right distribution.
 */
export const distance = (sample: readonly number[], cdf: (x: number) => number): number => {
  const sorted = [...sample].sort((one, other) => one - other)
  const gaps = sorted.map((x, index) => {
    const [below, upTo] = [index / sorted.length, (index + 1) / sorted.length]
    return Math.max(Math.abs(cdf(x) - below), Math.abs(cdf(x) - upTo))
  })
  return gaps.reduce((one, other) => Math.max(one, other)) * Math.sqrt(sorted.length)
}

export const rare = 1.95
