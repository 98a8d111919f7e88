import FlatQueue from 'flatqueue'
import { TopologyError } from '../error.ts'
import { seededRandom, type UniformRandom } from '../random.ts'
import { type Distribution, drawing } from './distribution.ts'
import type { ChurnPlan } from './plan.ts'
import { type ChurnSetting, Population } from './population.ts'

/** What makes nodes come and go. */
export type ChurnModel =
  /** Joins and leaves are two Poisson processes; each takes any node. */
  | { readonly kind: 'poisson'; readonly joinsPerMinute: number; readonly leavesPerMinute: number }
  /** Joins are a Poisson process. A node stays for one session of random length. */
  | { readonly kind: 'sessions'; readonly joinsPerMinute: number; readonly session: Distribution }
  /** Each node alternates between present and absent on its own. */
  | { readonly kind: 'on-off'; readonly on: Distribution; readonly off: Distribution }

/**
 * A plan by a model. The same setting and model give the same plan. If the bounds keep a node from leaving, it begins
 * another session; if they keep it from joining, it stays away for another period. Nodes present from the start begin
 * their session then. Throws a `TopologyError` for impossible bounds and invalid rates and times.
 */
export const planChurn = (setting: ChurnSetting, model: ChurnModel): ChurnPlan => {
  const random = seededRandom(setting.seed)
  const population = new Population(setting, random)
  switch (model.kind) {
    case 'poisson':
      poisson(population, setting, random, model)
      break
    case 'sessions':
      sessions(population, setting, random, model)
      break
    case 'on-off':
      onOff(population, setting, random, model)
      break
  }
  return population.plan()
}

type ModelOf<Kind> = Extract<ChurnModel, { readonly kind: Kind }>

const poisson = (
  population: Population,
  { forMs }: ChurnSetting,
  random: UniformRandom,
  { joinsPerMinute, leavesPerMinute }: ModelOf<'poisson'>,
) => {
  checkRate('joinsPerMinute', joinsPerMinute)
  checkRate('leavesPerMinute', leavesPerMinute)
  // The two processes are drawn as one with the sum of their rates, in which each event belongs to either by its share.
  const perMinute = joinsPerMinute + leavesPerMinute
  const gap = gapsOf(random, perMinute)
  for (let at = gap(); at < forMs; at += gap()) {
    if (random() * perMinute < joinsPerMinute) population.join(at)
    else population.leave(at)
  }
}

const sessions = (
  population: Population,
  { forMs, nodes }: ChurnSetting,
  random: UniformRandom,
  { joinsPerMinute, session }: ModelOf<'sessions'>,
) => {
  checkRate('joinsPerMinute', joinsPerMinute)
  const gap = gapsOf(random, joinsPerMinute)
  const length = drawing(random, session)
  const ends = new FlatQueue<string>()
  for (const node of nodes) if (population.has(node)) ends.push(node, length())
  for (let join = gap(); ; ) {
    const end = ends.peekValue() ?? Number.POSITIVE_INFINITY
    if (Math.min(join, end) >= forMs) return
    if (end <= join) {
      const node = ends.pop()!
      if (population.leave(end, node) === undefined) ends.push(node, end + length())
    } else {
      const node = population.join(join)
      if (node !== undefined) ends.push(node, join + length())
      join += gap()
    }
  }
}

const onOff = (
  population: Population,
  { forMs, nodes }: ChurnSetting,
  random: UniformRandom,
  { on, off }: ModelOf<'on-off'>,
) => {
  const [onFor, offFor] = [drawing(random, on), drawing(random, off)]
  const turns = new FlatQueue<string>()
  const wait = (node: string, at: number) => turns.push(node, at + (population.has(node) ? onFor() : offFor()))
  for (const node of nodes) wait(node, 0)
  for (;;) {
    const at = turns.peekValue()
    if (at === undefined || at >= forMs) return
    const node = turns.pop()!
    if (population.has(node)) population.leave(at, node)
    else population.join(at, node)
    wait(node, at)
  }
}

/** Milliseconds between the events of a Poisson process. */
const gapsOf = (random: UniformRandom, perMinute: number) =>
  perMinute === 0
    ? () => Number.POSITIVE_INFINITY
    : drawing(random, { kind: 'exponential', meanMs: 60_000 / perMinute })

const checkRate = (name: string, perMinute: number) => {
  if (!(perMinute >= 0)) throw new TopologyError(`${name}: expected a rate of at least 0, found ${perMinute}`)
}
