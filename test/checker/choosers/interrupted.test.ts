import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { interrupted } from '../../../checker/choosers/interrupted.ts'
import { defaultWeights } from '../../../checker/choosers/weights.ts'
import { always } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import type { Choice } from '../../../checker/system/system.ts'
import { shapes, systemOf, type Waiting } from '../systems/waiting.ts'

const choice = (kind: Choice['kind'], node: string): Choice => ({
  kind,
  node,
  label: `${kind} ${node}`,
  subject: '',
  numbers: [],
})
const nodes = ['a', 'b', 'c']

/** A walk over nodes that have timers alone: the node that was paused, after how many of its steps, and for how many of the others. */
const pauseOf = (seed: number) => {
  const choose = interrupted(new Random(seed), defaultWeights)
  const steps = new Map<string, number>()
  let [node, timers]: [string | undefined, number] = [undefined, 0]
  for (;;) {
    const running = nodes.filter(each => each !== node)
    const own: Choice[] = node === undefined ? running.map(each => choice('pause', each)) : [choice('resume', node)]
    const { kind, node: of }: Choice = choose([...running.map(each => choice('timer', each)), ...own])!
    if (kind === 'resume') return { node: node!, after: steps.get(node!)!, timers }
    if (kind === 'pause') node = of
    else if (node === undefined) steps.set(of, (steps.get(of) ?? 0) + 1)
    else timers += 1
  }
}

test('each node is paused as often, after few or many of its own steps, for 3 to 24 timers of the others', () => {
  const pauses = Array.from({ length: 600 }, (_, seed) => pauseOf(seed))
  const share = (isMeant: (pause: ReturnType<typeof pauseOf>) => boolean) => pauses.filter(isMeant).length / 600
  for (const node of nodes) expect(Math.abs(share(pause => pause.node === node) - 1 / 3)).toBeLessThan(0.07)
  for (const count of [3, 6, 12, 24])
    expect(Math.abs(share(({ timers }) => timers === count) - 1 / 4)).toBeLessThan(0.07)
  // One step as often as 2 and 3, or 4 to 7, or 8 to 15, or 16 to 31.
  for (const least of [1, 2, 4, 8, 16])
    expect(Math.abs(share(({ after }) => after >= least && after < 2 * least) - 1 / 5)).toBeLessThan(0.07)
})

test('where nothing but the paused node is left, it goes on', () => {
  for (let seed = 0; seed < 20; seed++) {
    const choose = interrupted(new Random(seed), defaultWeights)
    expect(choose([choice('resume', 'a')])?.kind).toBe('resume')
  }
})

test('a power failure comes after one of the calls or steps of its node, which starts again at once', () => {
  const counts = Array.from({ length: 600 }, (_, seed) => {
    const choose = interrupted(new Random(seed), defaultWeights)
    const enabled = [choice('client', 'client ann'), choice('timer', 'a'), choice('power', 'a')]
    let count = 0
    while (choose(enabled)!.kind !== 'power') count += 1
    return count
  })
  for (const least of [1, 2, 4, 8, 16]) {
    const share = counts.filter(count => count >= least && count < 2 * least).length / 600
    expect(Math.abs(share - 1 / 5)).toBeLessThan(0.07)
  }
})

test('where no node may be paused or lose its power, there is no such walk', async () => {
  const sound = always<Waiting>(({ bad }) => !bad)
  const { coverage } = await check(systemOf(shapes[0]!), { sound }, { executions: 40, seed: 1 })
  expect(coverage.searches.find(({ name }) => name === 'interrupted')?.executions).toBe(0)
})
