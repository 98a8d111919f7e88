import { degreesOf, type Topology } from '../topology.ts'
import { fitPowerLaw, type PowerLaw } from './power-law.ts'

/** How the degrees of nodes are distributed. */
export interface Degrees {
  readonly mean: number
  readonly largest: number
  /** Share of nodes with one link. */
  readonly degreeOneShare: number
  /**
   * Degree ~ rank^exponent (Faloutsos, Faloutsos and Faloutsos, SIGCOMM 1999), over the 2 % of nodes with the largest
   * degrees, as INET fits it; `null` where there are too few.
   */
  readonly rankLaw: PowerLaw | null
  /**
   * P(degree > d) ~ d^exponent, up to the degree of the fourth largest node: the three largest are no part of the law
   * (Winick and Jamin, CSE-TR-456-02, 2002); `null` where there are too few degrees.
   */
  readonly ccdfLaw: PowerLaw | null
  /** For each degree d that occurs, the share of nodes whose degree is above it. */
  readonly ccdf: readonly (readonly [degree: number, share: number])[]
}

export const summariseDegrees = ({ nodes, links }: Topology): Degrees => {
  const degrees = degreesOf(nodes, links).sort((one, other) => other - one)
  const ccdf = ccdfOf(degrees)
  const fourth = degrees[3] ?? 0
  return {
    mean: (2 * links.length) / nodes.length,
    largest: degrees[0]!,
    degreeOneShare: degrees.filter(degree => degree === 1).length / nodes.length,
    rankLaw: fitPowerLaw(degrees.slice(0, nodes.length * 0.02).map((degree, index) => [index + 1, degree])),
    ccdfLaw: fitPowerLaw(ccdf.filter(([degree]) => degree > 0 && degree <= fourth)),
    ccdf,
  }
}

/** Of degrees in decreasing order; the smallest first. */
const ccdfOf = (degrees: readonly number[]): [number, number][] =>
  [...new Set(degrees)].map((degree): [number, number] => [degree, degrees.indexOf(degree) / degrees.length]).reverse()
