import { subject } from './labels.ts'
import type { Random } from './random.ts'
import { type Choice, type ChoiceKind, faultKinds } from './system.ts'
import { type Policy, type Weights, weighted } from './weights.ts'

/**
 * A walk that looks for races: activities of several nodes at once, and their inputs meeting in one node.
 *
 * Messages are delivered in any order; timers and client calls start activities when nothing is in flight, and with a
 * small chance, drawn for each walk, while something is. What has a budget (overlaps, faults) is taken at points drawn
 * uniformly over the walk, because by weight alone a small budget is always spent in the first steps. Both are from
 * probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
 *
 * An overlap joins messages of different origin: two answers to one broadcast are many and meet nothing new. In half of
 * the walks the two are also about the same, for peers that do the same thing at once are the likeliest to collide.
 */
export const racing = (random: Random, weights: Weights, length: number): Policy => {
  const origins = new Origins()
  const early = 0.02 * 15 ** random.next()
  const alike = random.below(2) === 0
  const start = weighted(random, { ...weights, deliver: 0, overlap: 0, fault: 0 })
  const seen = new Set<ChoiceKind>()
  let points = drawPoints(random, length)
  let step = 0

  const collides = (choice: Choice): boolean => {
    const [first, second] = choice.joins ?? []
    if (first === undefined || second === undefined) return true
    return origins.differ(first, second) && (!alike || subject(first) === subject(second))
  }

  const takePoint = (enabled: readonly Choice[]): Choice | undefined => {
    for (const point of points) {
      if (point.step > step) continue
      point.kind ??= seen.size > 0 ? random.pick([...seen]) : undefined
      const candidates = enabled.filter(each => each.kind === point.kind && collides(each))
      if (candidates.length === 0) continue
      points = points.filter(each => each !== point)
      return random.pick(candidates)
    }
    return undefined
  }

  const takeOrdinary = (enabled: readonly Choice[]): Choice | undefined => {
    const deliveries = enabled.filter(choice => choice.kind === 'deliver')
    const starting = deliveries.length === 0 || random.next() < early ? start(enabled) : undefined
    return starting ?? (deliveries.length > 0 ? random.pick(deliveries) : undefined)
  }

  return enabled => {
    for (const { kind } of enabled) if (kind === 'overlap' || faultKinds.includes(kind)) seen.add(kind)
    origins.arrive(enabled)
    const choice = takePoint(enabled) ?? takeOrdinary(enabled)
    if (choice) origins.leave(choice)
    step += 1
    return choice
  }
}

/** A step from which on a choice of a kind with a budget is taken, as soon as one is enabled. */
interface Point {
  readonly step: number
  kind?: ChoiceKind | undefined
}

// Few surprises are likelier than many: one half of the walks has one, a quarter two, and so on.
const drawPoints = (random: Random, length: number): Point[] => {
  const points: Point[] = []
  do points.push({ step: random.below(length) })
  while (points.length < 8 && random.below(2) === 0)
  return points
}

/**
 * By message in flight, the activity that it belongs to: that of the message whose delivery made it appear, or a new
 * one, where a timer, a call or anything else did.
 */
class Origins {
  readonly #origins = new Map<string, number>()
  #current = 0
  #count = 0

  differ(first: string, second: string): boolean {
    const origin = this.#origins.get(first)
    const other = this.#origins.get(second)
    return origin !== undefined && other !== undefined && origin !== other
  }

  arrive(enabled: readonly Choice[]): void {
    for (const { kind, label } of enabled)
      if (kind === 'deliver' && !this.#origins.has(label)) this.#origins.set(label, this.#current)
  }

  leave({ label }: Choice): void {
    this.#count += 1
    this.#current = this.#origins.get(label) ?? this.#count
    this.#origins.delete(label)
  }
}
