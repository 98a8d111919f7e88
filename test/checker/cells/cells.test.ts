import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { type Cell, OwnCell } from '../../../checker/cells/cell.ts'
import { Cells } from '../../../checker/cells/cells.ts'
import type { Task, TaskOutcome } from '../../../checker/cells/task.ts'
import { checkInCells } from '../../../checker/check.ts'
import { Budget, BudgetSpent } from '../../../checker/system/budget.ts'
import { initial, labelsTo, startAfter } from '../../../checker/system/start.ts'
import type { Verdict } from '../../../checker/verdict/verdict.ts'
import { counter, nothingLost } from '../systems/counter.ts'
import { graphs, modelOf, propertiesOf } from '../systems/graph.ts'
import { processes } from '../systems/processes.ts'
import { comesHome, ring } from '../systems/ring.ts'

/** A cell that takes its time, for some tasks longer than for others. */
class SlowCell implements Cell {
  readonly #cell: Cell
  readonly #turnsOf: (task: Task) => number

  constructor(cell: Cell, turnsOf: (task: Task) => number = anyTurns) {
    this.#cell = cell
    this.#turnsOf = turnsOf
  }

  async perform(...[task, variant, budget]: Parameters<Cell['perform']>): Promise<TaskOutcome> {
    for (let turn = this.#turnsOf(task); turn > 0; turn--) await new Promise(setImmediate)
    return this.#cell.perform(task, variant, budget)
  }

  end(): Promise<void> {
    return this.#cell.end()
  }
}

let turns = 0
const anyTurns = () => {
  turns = (turns * 7 + 3) % 11
  return turns
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

const timeless = ({ seconds: _, stepsPerSecond: __, discovery, ...verdict }: Verdict) => ({
  ...verdict,
  discovery: discovery && { ...discovery, seconds: 0 },
})

test.each([
  ['time', true],
  ['aborted', false],
] as const)('an execution whose audit ends because of its budget (%s) counts: %s', async (what, counts) => {
  let endBy = 0
  const system = Object.assign(ring(), {
    processes: processes({
      endBy: time => {
        endBy = time
      },
      audit: async () => {
        expect(endBy).toBeLessThan(Number.POSITIVE_INFINITY)
        throw new BudgetSpent(what)
      },
    }),
  })
  const cell = new OwnCell(system, {})
  const task = { start: initial, walks: [{ chooser: 'fair', seed: 1, length: 3 }], surprises: [] } as const
  const outcome = cell.perform(task, 0, new Budget({ milliseconds: 1000 }))
  if (counts) expect((await outcome).schedule).toHaveLength(3)
  else await expect(outcome).rejects.toThrow(BudgetSpent)
})

describe('a search in cells', () => {
  it('has the same result for any number of them, whichever is ready first', async () => {
    const search = fc.constantFrom('auto' as const, 'walk' as const, 'bounded' as const)
    await fc.assert(
      fc.asyncProperty(graphs(6), search, fc.nat(), async (graph, search, seed) => {
        const properties = propertiesOf(graph)
        const run = async (count: number) => {
          const cells = times(count, () => new SlowCell(new OwnCell(modelOf(graph), properties)))
          return timeless(await checkInCells(cells, properties, { search, seed, executions: 20, walks: 6 }))
        }
        const alone = await run(1)
        expect(await run(2)).toEqual(alone)
        expect(await run(5)).toEqual(alone)
      }),
      {
        numRuns: 40,
        // A suspect that recovers while another cell already searches behind it.
        examples: [[{ ways: [[2], [], [4, 3], [], [], []], live: [4], bad: 1 }, 'auto', 2113921001]],
      },
    )
  })

  it('uses no cell any more when it has ended', async () => {
    let performing = 0
    const counting = (cell: Cell): Cell => ({
      end: () => cell.end(),
      perform: async (task, variant, budget) => {
        performing += 1
        return cell.perform(task, variant, budget).finally(() => {
          performing -= 1
        })
      },
    })
    const cells = times(3, () => counting(new SlowCell(new OwnCell(ring(), { comesHome }))))
    expect(await checkInCells(cells, { comesHome }, { executions: 50 })).toMatchObject({ verdict: 'violated' })
    expect(performing).toBe(0)
  })
})

const one = (labels: readonly string[]) => ({ start: startAfter(labels) })

describe('work in order', () => {
  const cellsOfRing = (count: number) => Cells.of(times(count, () => new SlowCell(new OwnCell(ring(), { comesHome }))))

  it('is handed out in the order of its items, and begun no further ahead than twice as many as there are cells', async () => {
    const items = [1, 2, 3, 4, 5, 6].values()
    let begun = 0
    const seen: number[] = []
    const cells = cellsOfRing(2)
    const work = async (moves: number, cells: Cells) => {
      begun += 1
      return cells.run(one(Array(moves).fill('move')))
    }
    for await (const [item, outcome] of cells.inOrder(() => items.next().value, work)) {
      expect(outcome.schedule).toHaveLength(item)
      seen.push(item)
      expect(begun).toBeLessThanOrEqual(seen.length + 3)
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6])
    expect(cells.counts).toMatchObject({ executions: 6, steps: 21 })
  })

  it('ends what is not asked for any more, and does not count it', async () => {
    const cells = Cells.of(
      times(3, () => new SlowCell(new OwnCell(ring(), { comesHome }), ({ start }) => labelsTo(start).length)),
    )
    const ended: unknown[] = []
    const work = async (moves: number, cells: Cells) => {
      try {
        return await cells.run(one(Array(moves).fill('move')))
      } catch (error) {
        ended.push(error)
        throw error
      }
    }
    const items = [1, 500, 500].values()
    for await (const _ of cells.inOrder(() => items.next().value, work)) break
    await cells.whenIdle()
    expect(cells.counts).toMatchObject({ executions: 1, steps: 1 })
    expect(ended).toEqual([new BudgetSpent('aborted'), new BudgetSpent('aborted')])
  })

  it('continues when results add more items', async () => {
    const cells = Cells.of([new OwnCell(counter(2), { nothingLost })])
    const waiting = [['p1 read']]
    const seen: string[] = []
    for await (const [labels, { arrival }] of cells.inOrder(
      () => waiting.shift(),
      (labels, cells) => cells.run({ start: startAfter(labels) }),
      4,
    )) {
      seen.push(labels.join(' '))
      for (const { label } of arrival.enabled) if (labels.length < 2) waiting.push([...labels, label])
    }
    expect(seen).toEqual(['p1 read', 'p1 read p1 write', 'p1 read p2 read'])
  })

  it('takes no more executions than the budget has', async () => {
    const cells = cellsOfRing(2).within({ executions: 2 })
    const seen: number[] = []
    const run = async () => {
      const items = [1, 2, 3, 4].values()
      const runs = cells.inOrder(
        () => items.next().value,
        (moves, cells) => cells.run(one(Array(moves).fill('move'))),
      )
      for await (const [item] of runs) seen.push(item)
    }
    await expect(run()).rejects.toEqual(new BudgetSpent('executions'))
    expect(seen).toEqual([1, 2])
  })

  it("ends after the budget's steps, not counting executions that were begun ahead", async () => {
    for (const count of [1, 2, 5]) {
      const cells = cellsOfRing(count).within({ steps: 5 })
      const seen: number[] = []
      const run = async () => {
        const items = [1, 2, 3, 4, 5, 6].values()
        const runs = cells.inOrder(
          () => items.next().value,
          (moves, cells) => cells.run(one(Array(moves).fill('move'))),
        )
        for await (const [item] of runs) seen.push(item)
      }
      await expect(run()).rejects.toEqual(new BudgetSpent('steps'))
      expect(seen).toEqual([1, 2, 3])
      await expect(cells.run(one(['move']))).rejects.toEqual(new BudgetSpent('steps'))
      await cells.whenIdle()
    }
  })
})
