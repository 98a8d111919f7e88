import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CellCounts } from '../../../checker/cells/cells.ts'
import type { Properties } from '../../../checker/cells/executor.ts'
import { BoundedSearch, type Level } from '../../../checker/searches/bounded.ts'
import { always } from '../../../checker/system/property.ts'
import { startAfter } from '../../../checker/system/start.ts'
import type { System } from '../../../checker/system/system.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { counter, nothingLost } from '../systems/counter.ts'
import { Model, type Transition } from '../systems/model.ts'
import { offices, type Post, type PostOptions, post, unnumbered } from '../systems/post.ts'
import { consistent, twoPhaseCommit } from '../systems/two-phase-commit.ts'

interface Searched {
  readonly levels: readonly Level[]
  readonly counts: CellCounts
  readonly violations: readonly (readonly string[])[]
  readonly exhausted: boolean
}

const searchAll = async <State>(
  system: System<State>,
  properties: Properties<State>,
  depthMax: number,
  everyOrder?: boolean,
): Promise<Searched> => {
  const cells = cellsOf(system, properties)
  const search = new BoundedSearch({ depthMax, everyOrder })
  const violations: (readonly string[])[] = []
  for (let prefix = search.next(); prefix !== undefined; prefix = search.next()) {
    const { labels } = prefix
    if (search.arrive(prefix, await cells.run({ start: startAfter(labels) })) === 'violation') violations.push(labels)
  }
  return { levels: search.levels, counts: cells.counts, violations, exhausted: search.exhausted }
}

const table = (levels: readonly Level[]) =>
  levels.map(({ depth, executions, states, pruned, complete }) => [depth, executions, states, pruned, complete])

describe('bounded search', () => {
  it('executes every schedule of a counter race if no states are merged', async () => {
    const { levels, exhausted } = await searchAll(counter(2, { fingerprints: false }), {}, 10)
    // Interleavings of two processes of two steps: 4! / (2! 2!) = 6.
    expect(table(levels)).toEqual([
      [1, 2, 2, 0, true],
      [2, 4, 4, 0, true],
      [3, 6, 6, 0, true],
      [4, 6, 6, 0, true],
    ])
    expect(exhausted).toBe(true)
  })

  it('continues from each state only once if states have fingerprints', async () => {
    const { levels, counts } = await searchAll(counter(2), {}, 10)
    expect(table(levels)).toEqual([
      [1, 2, 2, 0, true],
      [2, 4, 3, 1, true],
      [3, 4, 4, 0, true],
      [4, 4, 2, 2, true],
    ])
    // The initial state, and those of each depth.
    expect(counts.states).toBe(1 + 2 + 3 + 4 + 2)
  })

  it('finds the lost additions of a counter race, and nothing else', async () => {
    const { violations } = await searchAll(counter(2, { fingerprints: false }), { nothingLost }, 10)
    expect(violations).toEqual([
      ['p1 read', 'p2 read', 'p1 write', 'p2 write'],
      ['p1 read', 'p2 read', 'p2 write', 'p1 write'],
      ['p2 read', 'p1 read', 'p1 write', 'p2 write'],
      ['p2 read', 'p1 read', 'p2 write', 'p1 write'],
    ])
  })

  it('sees the 288 states that TLC counts for two-phase commit with three resource managers', async () => {
    const { levels, counts, violations, exhausted } = await searchAll(twoPhaseCommit(3), { consistent }, 100)
    const states = 288
    expect(counts.states).toBe(states)
    expect(levels.reduce((sum, level) => sum + level.states, 1)).toBe(states)
    expect(exhausted).toBe(true)
    expect(violations).toEqual([])
  })

  it('finds a shortest violation first', async () => {
    const { violations } = await searchAll(twoPhaseCommit(2, { impatient: true }), { consistent }, 8)
    // Both prepare and are heard, the manager commits, one commits, the other gives up.
    expect(violations[0]).toHaveLength(7)
  })

  it('stops at its bound and says how far it came', async () => {
    const { levels, exhausted } = await searchAll(counter(3), {}, 2)
    expect(table(levels)).toEqual([
      [1, 3, 3, 0, true],
      [2, 9, 6, 3, true],
    ])
    expect(exhausted).toBe(false)
  })

  it('finds the same bad states whether or not states are merged', async () => {
    const graph = fc.array(fc.array(fc.nat(5), { maxLength: 3 }), { minLength: 6, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(graph, fc.nat(5), async (successors, bad) => {
        const model = (fingerprints: boolean) =>
          new Model<number>(
            0,
            state =>
              successors[state]!.map((next, i) => ({ kind: 'timer', node: 'n', label: `t${i}`, next: () => next })),
            { fingerprints },
          )
        const notBad = always<number>(state => state !== bad)
        const merged = await searchAll(model(true), { notBad }, 5)
        const whole = await searchAll(model(false), { notBad }, 5)
        const shortest = ({ violations }: Searched) => violations[0]?.length
        expect(shortest(merged)).toBe(shortest(whole))
        expect(merged.counts.executions).toBeLessThanOrEqual(whole.counts.executions)
      }),
      { numRuns: 100 },
    )
  })
})

describe('bounded search that leaves out orders of steps that commute', () => {
  /** What each node can come to at each depth, whatever the way there. */
  const reached = async (system: System<Post>, everyOrder: boolean, depthMax = 6) => {
    const seen = new Map<string, number>()
    const cells = cellsOf(system, {})
    const search = new BoundedSearch({ depthMax, everyOrder })
    for (let prefix = search.next(); prefix !== undefined; prefix = search.next()) {
      const { labels } = prefix
      const outcome = await cells.run({ start: startAfter(labels) })
      const state = JSON.stringify(Object.entries(system.state()).map(([, value]) => sorted(value)))
      if (!seen.has(state)) seen.set(state, labels.length)
      search.arrive(prefix, outcome)
    }
    return { seen: new Map([...seen].toSorted()), executions: cells.counts.executions, levels: search.levels }
  }
  const sorted = (value: unknown) => (Array.isArray(value) ? value : Object.entries(value as object).toSorted())

  it.each([true, false])(
    'meets every state at the same depth, in fewer executions (fingerprints: %s)',
    async fingerprints => {
      let [all, fewer] = [0, 0]
      await fc.assert(
        fc.asyncProperty(offices, async office => {
          const whole = await reached(post(office, { fingerprints }), true, 5)
          const reduced = await reached(post(office, { fingerprints }), false, 5)
          expect(reduced.seen).toEqual(whole.seen)
          expect(reduced.executions).toBeLessThanOrEqual(whole.executions)
          all += whole.executions
          fewer += reduced.executions
        }),
        { numRuns: 40 },
      )
      expect(fewer).toBeLessThan(0.8 * all)
    },
  )

  it('merges states with the same messages in flight, whatever the numbers of these', async () => {
    let fewer = 0
    await fc.assert(
      fc.asyncProperty(offices, async office => {
        const shown = async (options: PostOptions) => {
          const seen = new Set<string>()
          const system = post(office, { acts: 3, ...options })
          const cells = cellsOf(system, {})
          const search = new BoundedSearch({ depthMax: 7 })
          for (let prefix = search.next(); prefix !== undefined; prefix = search.next()) {
            search.arrive(prefix, await cells.run({ start: startAfter(prefix.labels) }))
            seen.add(unnumbered(system.state()))
          }
          return { seen, executions: cells.counts.executions }
        }
        const [merged, whole] = [await shown({ unnumbered: true }), await shown({ fingerprints: false })]
        expect([...merged.seen].toSorted()).toEqual([...whole.seen].toSorted())
        fewer += whole.executions - merged.executions
      }),
      { numRuns: 40 },
    )
    expect(fewer).toBeGreaterThan(0)
  })

  it('executes one order of three steps that commute, and says what it left out', async () => {
    const system = new Model<readonly boolean[]>(
      [false, false, false],
      done =>
        done.flatMap((isDone, i): Transition<readonly boolean[]>[] => {
          const next = () => done.with(i, true)
          return isDone ? [] : [{ kind: 'timer', node: `n${i}`, label: `n${i} acts`, next }]
        }),
      { local: true },
    )
    const { levels } = await searchAll(system, {}, 10)
    expect(levels.map(({ executions, states, pruned, asleep }) => [executions, states, pruned, asleep])).toEqual([
      [3, 3, 0, 0],
      [3, 3, 0, 3],
      [1, 1, 0, 2],
    ])
    const every = await searchAll(system, {}, 10, true)
    expect(every.levels.map(({ executions, states, pruned }) => [executions, states, pruned])).toEqual([
      [3, 3, 0],
      [6, 3, 3],
      [3, 1, 2],
    ])
  })

  it('sees the 288 states of two-phase commit all the same', async () => {
    const { counts, levels } = await searchAll(twoPhaseCommit(3, { local: true }), { consistent }, 100)
    expect(counts.states).toBe(288)
    const whole = await searchAll(twoPhaseCommit(3), { consistent }, 100)
    expect(levels.map(({ states }) => states)).toEqual(whole.levels.map(({ states }) => states))
    expect(counts.executions).toBeLessThan(whole.counts.executions / 2)
  })
})
