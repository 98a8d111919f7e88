import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { Distribution } from '../../../topologies/churn/distribution.ts'
import { type ChurnModel, planChurn } from '../../../topologies/churn/model.ts'
import { type ChurnEvent, checkPlan, manners } from '../../../topologies/churn/plan.ts'
import type { ChurnSetting } from '../../../topologies/churn/population.ts'
import { distance, rare } from './statistics.ts'

const minute = 60_000
const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index + 1}`)

const setting = (count: number, initial: number, minutes: number): ChurnSetting => ({
  ...{ nodes: names(count), initial, forMs: minutes * minute, manners, seed: 1 },
})

const distributions: { readonly distribution: Distribution; readonly cdf: (x: number) => number }[] = [
  { distribution: { kind: 'exponential', meanMs: 1e6 }, cdf: x => 1 - Math.exp(-x / 1e6) },
  { distribution: { kind: 'pareto', shape: 1.5, leastMs: 1e5 }, cdf: x => (x < 1e5 ? 0 : 1 - (1e5 / x) ** 1.5) },
  { distribution: { kind: 'weibull', shape: 0.5, scaleMs: 1e6 }, cdf: x => 1 - Math.exp(-((x / 1e6) ** 0.5)) },
]

const timesOf = (events: readonly ChurnEvent[], does: ChurnEvent['does']) =>
  events.filter(event => event.does === does).map(({ atMs }) => atMs)

const differences = (times: readonly number[]) => times.slice(1).map((time, index) => time - times[index]!)

describe('Poisson', () => {
  // One join and one leave a minute, as in CrystalBall; over a week, so that the law shows, and far from all bounds.
  const minutes = 7 * 24 * 60
  const { events } = planChurn(setting(2000, 1000, minutes), { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 1 })

  test.each(['join', 'leave'] as const)('as many %ss as the rate says, with exponential gaps', does => {
    const times = timesOf(events, does)
    expect(Math.abs(times.length - minutes)).toBeLessThan(5 * Math.sqrt(minutes))
    expect(distance(differences(times), gap => 1 - Math.exp(-gap / minute))).toBeLessThan(rare)
  })

  it('takes every node, and every manner, equally often', () => {
    const bounded = { ...setting(10, 5, minutes), atLeast: 4, atMost: 6 }
    const plan = planChurn(bounded, { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 1 })
    const leaves = plan.events.flatMap(event => (event.does === 'leave' ? [event] : []))
    const isOften = (count: number, share: number) =>
      expect(Math.abs(count - leaves.length * share)).toBeLessThan(5 * Math.sqrt(leaves.length * share * (1 - share)))
    for (const manner of manners) isOften(leaves.filter(leave => leave.manner === manner).length, 1 / manners.length)
    for (const node of names(10)) isOften(leaves.filter(leave => leave.node === node).length, 1 / 10)
  })
})

describe('sessions', () => {
  it.each(distributions)('last as drawn: $distribution.kind', ({ distribution, cdf }) => {
    const model: ChurnModel = { kind: 'sessions', joinsPerMinute: 2, session: distribution }
    const { events } = planChurn(setting(1000, 0, 5000), model)
    const joined = new Map<string, number>()
    const lengths: number[] = []
    for (const event of events) {
      if (event.does === 'join') joined.set(event.node, event.atMs)
      // Those of the first half have the second to end in, so that none is left out for its length.
      const start = event.does === 'leave' ? joined.get(event.node)! : Number.POSITIVE_INFINITY
      if (start < 2500 * minute) lengths.push(event.atMs - start)
    }
    expect(lengths.length).toBeGreaterThan(4000)
    expect(distance(lengths, cdf)).toBeLessThan(rare)
  })

  it('give the population of Little’s law: rate times mean length', () => {
    const model: ChurnModel = {
      kind: 'sessions',
      joinsPerMinute: 2,
      session: { kind: 'exponential', meanMs: 10 * minute },
    }
    const { events } = planChurn(setting(200, 20, 20_000), model)
    let present = 20
    let area = 0
    let last = 0
    for (const { atMs, does } of events) {
      area += present * (atMs - last)
      last = atMs
      present += does === 'join' ? 1 : -1
    }
    // The number is Poisson of mean 20, and forgets itself in 10 minutes: 1,000 independent looks at least.
    expect(Math.abs(area / last - 20)).toBeLessThan((5 * Math.sqrt(20)) / Math.sqrt(1000))
  })
})

describe('on-off', () => {
  it.each(distributions)('each node alternates, on and off as drawn: $distribution.kind', ({ distribution, cdf }) => {
    const off: Distribution = { kind: 'exponential', meanMs: 1e5 }
    const { events } = planChurn(setting(1, 1, 100_000), { kind: 'on-off', on: distribution, off })
    const gaps = differences([0, ...events.map(({ atMs }) => atMs)])
    const on = gaps.filter((_, index) => index % 2 === 0)
    const away = gaps.filter((_, index) => index % 2 === 1)
    expect(on.length).toBeGreaterThan(1000)
    expect(distance(on, cdf)).toBeLessThan(rare)
    expect(distance(away, x => 1 - Math.exp(-x / 1e5))).toBeLessThan(rare)
  })
})

const anyModel = fc.constantFrom<ChurnModel>(
  { kind: 'poisson', joinsPerMinute: 3, leavesPerMinute: 3 },
  { kind: 'poisson', joinsPerMinute: 0, leavesPerMinute: 1 },
  { kind: 'sessions', joinsPerMinute: 3, session: { kind: 'pareto', shape: 1.1, leastMs: minute } },
  {
    kind: 'on-off',
    on: { kind: 'exponential', meanMs: minute },
    off: { kind: 'weibull', shape: 0.5, scaleMs: minute },
  },
)
const anySetting = fc
  .tuple(fc.nat(5), fc.nat(5), fc.nat(5), fc.nat(5), fc.nat())
  .map(([atLeast, more, andMore, andAll, seed]): ChurnSetting => {
    const [initial, atMost] = [atLeast + more, atLeast + more + andMore]
    return { ...setting(atMost + andAll, initial, 20), atLeast, atMost, seed }
  })

test('any plan can be carried out, is the same again, and keeps the population between its bounds', () => {
  fc.assert(
    fc.property(anySetting, anyModel, (setting, model) => {
      const plan = planChurn(setting, model)
      expect(planChurn(setting, model)).toEqual(plan)
      expect(checkPlan(plan)).toEqual(plan)
      expect(plan.events.every(({ atMs }) => atMs <= setting.forMs)).toBe(true)
      let present = setting.initial
      for (const { does } of plan.events) {
        present += does === 'join' ? 1 : -1
        expect(present).toBeGreaterThanOrEqual(setting.atLeast!)
        expect(present).toBeLessThanOrEqual(setting.atMost!)
      }
    }),
  )
})

test('another seed gives another plan', () => {
  const model: ChurnModel = { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 1 }
  expect(planChurn({ ...setting(10, 5, 60), seed: 2 }, model)).not.toEqual(planChurn(setting(10, 5, 60), model))
})

test('bounds that cannot be kept are refused', () => {
  const model: ChurnModel = { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 1 }
  expect(() => planChurn({ ...setting(3, 2, 1), atLeast: 3 }, model)).toThrow(
    'expected 0 <= atLeast <= initial <= atMost <= nodes, found 3, 2, 3, 3',
  )
  expect(() => planChurn({ ...setting(3, 4, 1) }, model)).toThrow(
    'expected 0 <= atLeast <= initial <= atMost <= nodes, found 0, 4, 3, 3',
  )
  expect(() => planChurn({ ...setting(3, 2, 1), manners: [] }, model)).toThrow(
    'manners: expected at least one, found none',
  )
})

test.each<[ChurnModel, string]>([
  [
    { kind: 'poisson', joinsPerMinute: -1, leavesPerMinute: 3 },
    'joinsPerMinute: expected a rate of at least 0, found -1',
  ],
  [
    { kind: 'sessions', joinsPerMinute: 1, session: { kind: 'weibull', shape: 0, scaleMs: 5 } },
    'weibull: expected shape above 0, found 0',
  ],
  [
    {
      kind: 'on-off',
      on: { kind: 'exponential', meanMs: Number.NaN },
      off: { kind: 'pareto', shape: 1, leastMs: 1 },
    },
    'exponential: expected meanMs above 0, found NaN',
  ],
])('rates and times that are none are refused: %j', (model, message) => {
  expect(() => planChurn(setting(3, 2, 1), model)).toThrow(message)
})
