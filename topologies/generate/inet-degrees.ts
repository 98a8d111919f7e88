/**
 * The degrees of N nodes in INET-3.0, largest first (Winick and Jamin, "Inet-3.0: Internet Topology Generator",
 * CSE-TR-456-02, University of Michigan, 2002). They are laws fitted to the autonomous systems of the internet from
 * November 1997, when there were 3037, to February 2002. Nothing is drawn. INET has no laws for fewer nodes; here they
 * get those of 1997, with the largest degrees scaled in proportion.
 */
export const inetDegrees = (count: number): number[] => {
  const months = monthsUntil(count)
  // The complementary cumulative distribution, P(degree > d), gives the number of nodes at each degree.
  const share = (degree: number) => Math.exp(-0.711) * degree ** ccdfExponent(months)
  const degrees = Array<number>(degreeOneCount(count)).fill(1)
  for (let degree = 2; degree < count; degree++) {
    const missing = Math.floor(count - degrees.length - count * share(degree))
    for (let i = 0; i < missing; i++) degrees.push(degree)
  }
  // The three largest degrees lie above the last whole node of this law and have a law of their own.
  const rest = Array.from({ length: count - ranked }, (_, index) => degrees[index] ?? degrees.at(-1)!)
  const scale = Math.min(1, count / inetNodesMin)
  const largest = Array.from({ length: ranked }, (_, index) =>
    Math.min(count - 1, Math.max(2, Math.floor(scale * degreeOfRank(index + 1, months)))),
  )
  return madeEven([...largest, ...rest].sort((one, other) => other - one))
}

/** INET has no laws for fewer nodes. */
export const inetNodesMin = 3037

/** Months that the internet took to grow from 3037 to this many autonomous systems. */
const monthsUntil = (count: number) => Math.max(0, Math.log(count / inetNodesMin) / 0.0281)

/** Exponent of d in P(degree > d). */
const ccdfExponent = (months: number) => 0.00324 * months - 1.223

const degreeOneCount = (count: number) => Math.floor(0.292 * count + 462 * Math.min(1, count / inetNodesMin))

const ranked = 3

const degreeOfRank = (rank: number, months: number) => Math.floor(rank ** -0.87 * Math.exp(0.0228 * months + 6.5285))

/** The sum of degrees must be even, because each link has two ends. */
const madeEven = ([first, ...rest]: readonly number[]) => {
  const sum = rest.reduce((all, degree) => all + degree, first!)
  return [first! + (sum % 2), ...rest]
}
