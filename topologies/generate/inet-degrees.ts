/**
 * The degrees that INET-3.0 gives to N nodes, largest first (Winick and Jamin, "Inet-3.0: Internet Topology Generator",
 * CSE-TR-456-02, University of Michigan, 2002). They are laws fitted to the autonomous systems of the internet from
 * November 1997, when there were 3037, to February 2002; nothing is drawn. For fewer it has no laws: they have those of
 * 1997, the largest degrees in proportion to the number of nodes.
 */
export const inetDegrees = (count: number): number[] => {
  const months = monthsUntil(count)
  // The complementary cumulative distribution, P(degree > d), says how many nodes are missing at each degree.
  const share = (degree: number) => Math.exp(-0.711) * degree ** ccdfExponent(months)
  const degrees = Array<number>(degreeOneCount(count)).fill(1)
  for (let degree = 2; degree < count; degree++) {
    const missing = Math.floor(count - degrees.length - count * share(degree))
    for (let i = 0; i < missing; i++) degrees.push(degree)
  }
  // What is above the last whole node of the law are the three largest, which have a law of their own.
  const rest = Array.from({ length: count - ranked }, (_, index) => degrees[index] ?? degrees.at(-1)!)
  const scale = Math.min(1, count / inetNodesMin)
  const largest = Array.from({ length: ranked }, (_, index) =>
    Math.min(count - 1, Math.max(2, Math.floor(scale * degreeOfRank(index + 1, months)))),
  )
  return madeEven([...largest, ...rest].sort((one, other) => other - one))
}

/** INET has no laws for fewer nodes. */
export const inetNodesMin = 3037

/** After so many months the internet had grown from 3037 to so many autonomous systems. */
const monthsUntil = (count: number) => Math.max(0, Math.log(count / inetNodesMin) / 0.0281)

/** Of P(degree > d) in d. */
const ccdfExponent = (months: number) => 0.00324 * months - 1.223

const degreeOneCount = (count: number) => Math.floor(0.292 * count + 462 * Math.min(1, count / inetNodesMin))

const ranked = 3

const degreeOfRank = (rank: number, months: number) => Math.floor(rank ** -0.87 * Math.exp(0.0228 * months + 6.5285))

/** Links come with two ends. */
const madeEven = ([first, ...rest]: readonly number[]) => {
  const sum = rest.reduce((all, degree) => all + degree, first!)
  return [first! + (sum % 2), ...rest]
}
