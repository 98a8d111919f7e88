/**
 * Figures that MaceMC gives (sections 4.3, 4.4 and 6), measured on systems of the corpus: what state hashing saves, how much
 * sooner weighted walks reach a live state, and how many steps away a live state is (its figure 2).
 * Usage: figures.js [SYSTEM...]
 */

import { Executor } from '../../checker/cells/executor.ts'
import { walk } from '../../checker/cells/walk.ts'
import { check } from '../../checker/check.ts'
import type { Chooser } from '../../checker/choosers/chooser.ts'
import { defaultWeights, weighted, withoutFaults } from '../../checker/choosers/weights.ts'
import { Random } from '../../checker/system/random.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import { median, row } from '../table.ts'
import { withCluster } from '../with-cluster.ts'
import { loadSystem } from './load-system.ts'

const walks = 40
const lengthMax = 1_000
/** With the depth of the bounded search: without fingerprints it must come to an end. */
const systems = { transport: 5, 'corpus/randtree': 3, 'corpus/pastry': 2, 'corpus/chord': 2 } as const

/** Executions of a bounded search to the same depth, with and without merging equal states. */
const measureHashing = async (name: string, depth: number): Promise<void> => {
  const system = await loadSystem(name)
  const search = (fingerprint: 'observed' | 'none') =>
    withCluster({ ...system, fingerprint }, cluster => check(cluster, {}, { search: 'bounded', depth }))
  const [hashed, plain] = [await search('observed'), await search('none')]
  const avoided = 1 - hashed.executions / plain.executions
  row(`${name}: executions avoided by fingerprints at depth ${depth}`, (avoided * 100).toFixed(0), '%')
  row(`${name}: times faster`, (plain.seconds / hashed.seconds).toFixed(1), '')
}

/** Steps until each liveness property has held, in walks without faults; `lengthMax` if one did not. */
const stepsToLive = (system: ResolvedSystem, policyOf: (random: Random) => Chooser): Promise<number[]> =>
  withCluster(system, async cluster => {
    const executor = new Executor(cluster, system.properties, { allowFindings: true })
    const random = new Random(1)
    const steps: number[] = []
    for (let count = 0; count < walks; count++) {
      await executor.reset()
      const isLive = () => executor.liveness.every(name => (executor.lastLive.get(name) ?? 0) > 0)
      await walk(executor, policyOf(random.fork()), lengthMax, isLive)
      steps.push(executor.schedule.length)
    }
    return steps
  })

const unbiased =
  (random: Random): Chooser =>
  enabled => {
    const possible = enabled.filter(({ kind }) => ['client', 'deliver', 'timer', 'overlap'].includes(kind))
    return possible.length > 0 ? random.pick(possible) : undefined
  }

const measureBias = async (name: string): Promise<void> => {
  const system = await loadSystem(name)
  const biased = await stepsToLive(system, random => weighted(random, withoutFaults(defaultWeights)))
  const even = await stepsToLive(system, unbiased)
  row(`${name}: steps to a live state, weighted (median of ${walks})`, `${median(biased)}`, 'steps')
  row(`${name}: steps to a live state, every choice alike`, `${median(even)}`, 'steps')
  console.log(histogram(biased))
}

/** How many walks took up to that many steps, by powers of two. */
const histogram = (steps: readonly number[]): string => {
  const bounds = Array.from({ length: Math.ceil(Math.log2(lengthMax)) + 1 }, (_, power) => 2 ** power)
  return bounds
    .map((bound, index) => {
      const count = steps.filter(each => each <= bound && each > (bounds[index - 1] ?? -1)).length
      return `${String(bound).padStart(6)} ${'#'.repeat(count)}`
    })
    .filter(line => line.includes('#'))
    .join('\n')
}

const wanted = process.argv.slice(2)
for (const [name, depth] of Object.entries(systems)) {
  if (wanted.length > 0 && !wanted.some(each => name.endsWith(each))) continue
  await measureHashing(name, depth)
  await measureBias(name)
}
process.exit()
