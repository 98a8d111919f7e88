import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { type GlobalState, jsonLines, type SystemDefinition } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, take } from '../system.ts'

const files = {
  'lease.js': `
    setTimeout(() => console.log(JSON.stringify({ isOver: true })), Number(process.argv[2]))
    setInterval(() => {}, Number(process.argv[3] ?? 700))`,
}

const lease = (duration: number, interval = 700) => ({
  command: [process.execPath, 'lease.js', `${duration}`, `${interval}`],
})

/** The holder gives up its lease after one second, and the keeper after three. */
const system = (options: Partial<SystemDefinition> = {}) =>
  clusterOf({ nodes: { holder: lease(1000), keeper: lease(3000) }, state: jsonLines('stdout'), ...options }, files)

const isOver = (state: GlobalState, node: string) => state.node(node).state !== undefined
const holderIsFirst = always<GlobalState>(state => isOver(state, 'holder') || !isOver(state, 'keeper'))

test('a timer that fires before one that is due earlier says how far clocks are apart', async () => {
  const cluster = system()
  await cluster.reset()
  expect(await take(cluster, 'keeper timer +700ms')).toMatchObject({ skewMs: undefined })
  expect(await take(cluster, 'keeper timer +700ms')).toMatchObject({ skewMs: 700 })
  expect(await take(cluster, 'holder timer +700ms')).toMatchObject({ skewMs: undefined })
})

test('with a bound, a timer waits for others, and clocks move along', async () => {
  const cluster = system()
  cluster.setSkewMsMax(100)
  await cluster.reset()
  await take(cluster, 'keeper timer +700ms')
  expect(labelsOf(cluster)).toEqual(['holder timer +100ms'])
  cluster.setSkewMsMax(Number.POSITIVE_INFINITY)
  expect(labelsOf(cluster)).toEqual(['holder timer +100ms', 'keeper timer +700ms'])
})

test('a violation that needs clocks apart says how far at least, and a configuration can rule it out', {
  timeout: 60_000,
}, async () => {
  const search = (options: Partial<SystemDefinition>) =>
    check(system(options), { holderIsFirst }, { search: 'walk', executions: 200 })
  const found = await search({})
  expect(found).toMatchObject({ verdict: 'violated', property: 'holderIsFirst', delayMs: 0 })
  // The holder's second timer is due two seconds before the keeper's lease ends.
  expect(found.skewMs).toBeGreaterThanOrEqual(2000)
  expect(found.skewMs).toBeLessThan(2150)
  expect(await search({ clocks: '1900ms' })).toMatchObject({ verdict: 'held', skewMs: null })
})

test('a violation that one clock for all nodes allows needs none apart', { timeout: 60_000 }, async () => {
  const properties = { neverOver: always<GlobalState>(state => !isOver(state, 'keeper')) }
  const found = await check(system(), properties, { search: 'walk', executions: 200 })
  expect(found).toMatchObject({ verdict: 'violated', property: 'neverOver', skewMs: 0 })
})

test('a violation that one clock allows is reported before one that needs clocks apart', {
  timeout: 60_000,
}, async () => {
  // The keeper needs one timer and the holder three, so that orders that need clocks apart are met more often.
  const nodes = { holder: lease(1000, 400), keeper: lease(3000, 4000) }
  const neverBoth = always<GlobalState>(state => !isOver(state, 'holder') || !isOver(state, 'keeper'))
  for (const seed of [1, 2, 3]) {
    const found = await check(
      system({ nodes }),
      { holderIsFirst, neverBoth },
      { search: 'walk', executions: 400, seed },
    )
    expect(found).toMatchObject({ verdict: 'violated', property: 'neverBoth' })
    expect(found.skewMs).toBeLessThanOrEqual(1000)
  }
})
