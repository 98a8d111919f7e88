import { describe, expect, it } from 'vitest'
import { check } from '../../../checker/check.ts'
import { BoundedSearch } from '../../../checker/searches/bounded.ts'
import { startAfter } from '../../../checker/system/start.ts'
import { hiddenCounter, neverOver } from '../soundness/hidden.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { Model, type Transition } from '../systems/model.ts'

describe('states that merely look alike', () => {
  it.each(['auto', 'bounded'] as const)('states that look alike hide no violation (%s)', async search => {
    const verdict = await check(hiddenCounter(6), { neverOver }, { search, executions: 300 })
    expect(verdict).toMatchObject({ verdict: 'violated', property: 'neverOver' })
    expect(verdict.schedule).toHaveLength(6)
  })

  it('are told apart once two of them behave differently, and the verdict says so', async () => {
    // Nothing violates, but the count that is hidden shows in the end.
    const { verdict, notes, coverage } = await check(hiddenCounter(6), {}, { search: 'bounded', executions: 200 })
    expect(verdict).toBe('held')
    expect(notes).toEqual([
      'some states that look alike are not the same: the same choices were executed after two of them, and state differed ' +
        'after 4 more steps (n timer). From now on states are told apart by their schedules: each schedule is executed',
    ])
    expect(coverage).toMatchObject({ exhausted: false, pruned: 0, prunedBy: null })
    expect(coverage.levels.length).toBeGreaterThan(100)
  })

  it('do not end a check: it goes on for its whole budget, and says what it left out', async () => {
    const { verdict, executions, message, coverage, notes } = await check(
      hiddenCounter(),
      { neverOver },
      { executions: 300 },
    )
    expect([verdict, executions]).toEqual(['held', 300])
    expect(notes).toEqual([])
    // What is left out without a loss counts, once it goes further than what may lose something.
    expect(coverage).toMatchObject({ exhausted: false, prunedBy: null })
    expect(message).toMatch(/among them every schedule of up to \d+ steps$/)
  })

  it('are the only reason to say what was left out', async () => {
    const bound = { search: 'bounded', depth: 4 } as const
    const { message, coverage } = await check(hiddenCounter(), { neverOver }, bound)
    expect(coverage).toMatchObject({ exhausted: true, pruned: 1, prunedBy: 'observed', audited: 1 })
    expect(message).toMatch(
      /; among them every schedule to its end, except after a state that looks like a known one \(once, 1 of which were audited and had the same future\)$/,
    )
  })
})

/** Three nodes that each do one thing, which commute. */
const three = () =>
  new Model<readonly boolean[]>(
    [false, false, false],
    done =>
      done.flatMap((isDone, i): Transition<readonly boolean[]>[] => {
        const next = () => done.with(i, true)
        return isDone ? [] : [{ kind: 'timer', node: `n${i}`, label: `n${i} acts`, next }]
      }),
    { local: true },
  )

it('an order that was left out for another one is executed if the other one is given up', async () => {
  const cells = cellsOf(three(), {})
  const search = new BoundedSearch({ by: 'nothing' })
  const done: string[] = []
  for (let prefix = search.next(); prefix !== undefined; prefix = search.next()) {
    const { labels } = prefix
    // The node can do it only after another one did something.
    if (labels.join() === 'n0 acts') search.fail(prefix, new Error('it did not repeat'))
    else {
      search.arrive(prefix, await cells.run({ start: startAfter(labels) }))
      done.push(labels.join())
    }
  }
  expect(done).toContain('n1 acts,n0 acts')
  expect(done.some(labels => labels.split(',').length === 3 && labels.includes('n0'))).toBe(true)
})

it('what exceeds the memory limit is not reported as searched', async () => {
  const cells = cellsOf(three(), {})
  const search = new BoundedSearch({ by: 'nothing', everyOrder: true, waitingMax: 4 })
  for (let prefix = search.next(); prefix !== undefined; prefix = search.next())
    search.arrive(prefix, await cells.run({ start: startAfter(prefix.labels) }))
  expect(search.depth).toBe(1)
  expect([search.isDone, search.exhausted]).toEqual([false, false])
})
