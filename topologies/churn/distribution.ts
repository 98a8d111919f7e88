import { randomExponential, randomPareto, randomWeibull } from 'd3-random'
import { TopologyError } from '../error.ts'
import type { UniformRandom } from '../random.ts'

/** How long something lasts, in milliseconds. */
export type Distribution =
  | { readonly kind: 'exponential'; readonly meanMs: number }
  /** P(X > x) = (leastMs / x)^shape. The mean is finite if the shape is above 1. */
  | { readonly kind: 'pareto'; readonly shape: number; readonly leastMs: number }
  /** P(X > x) = exp(-(x / scaleMs)^shape); peers of file sharing have a shape of 0.4 to 0.6 (Stutzbach and Rejaie, IMC 2006). */
  | { readonly kind: 'weibull'; readonly shape: number; readonly scaleMs: number }

/** Draws from a distribution. Throws a `TopologyError` for parameters that are not positive. */
export const drawing = (random: UniformRandom, distribution: Distribution): (() => number) => {
  const { kind, ...parameters } = distribution
  for (const [name, value] of Object.entries(parameters)) {
    if (!(value > 0)) throw new TopologyError(`${kind}: expected ${name} above 0, found ${value}`)
  }
  switch (distribution.kind) {
    case 'exponential':
      return randomExponential.source(random)(1 / distribution.meanMs)
    case 'pareto': {
      const multiple = randomPareto.source(random)(distribution.shape)
      return () => distribution.leastMs * multiple()
    }
    case 'weibull':
      return randomWeibull.source(random)(distribution.shape, 0, distribution.scaleMs)
  }
}
