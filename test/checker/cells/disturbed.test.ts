import { expect, it } from 'vitest'
import { check } from '../../../checker/check.ts'
import { Unfaithful } from '../../../checker/system/errors.ts'
import { always, eventually } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import type { System } from '../../../checker/system/system.ts'
import { recover } from '../../../checker/verdict/recovery.ts'
import { shrink } from '../../../checker/verdict/shrink-recorded.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { type Counter, counter } from '../systems/counter.ts'
import type { Model } from '../systems/model.ts'
import { comesHome, ring } from '../systems/ring.ts'
import { type Commit, consistent, twoPhaseCommit } from '../systems/two-phase-commit.ts'

/** A system of which some steps end whatever executes them. */
const deadly = <State, S extends System<State>>(system: S, isDeadly: (label: string, state: State) => boolean): S => {
  const execute = system.execute.bind(system)
  system.execute = async choice => {
    if (isDeadly(choice.label, system.state())) throw new Unfaithful(1, choice.label, 'it died')
    return execute(choice)
  }
  return system
}

it('a schedule that kills each worker is given up, and the others are executed', async () => {
  const system = deadly<Counter, Model<Counter>>(counter(2), label => label === 'p2 read')
  // With liveness alone no schedule goes on as a walk.
  const alive = eventually(() => true)
  const { verdict, message, coverage, steps } = await check(system, { alive }, { search: 'bounded', depth: 4 })
  expect(verdict).toBe('held')
  expect(message).toContain(`; ${coverage.unfaithful} do not count: it died; ${coverage.givenUp} did not repeat`)
  expect(coverage.levels.map(({ executions }) => executions)).toEqual([1, 1, 0])
  expect(steps).toBe(3)
})

it('if each start does so, the search gives up, and says that', async () => {
  const system = counter(2)
  system.reset = () => Promise.reject(new Unfaithful(0, 'the start', 'it died'))
  const { verdict, message, coverage } = await check(system, {}, { search: 'bounded', depth: 4 })
  expect(verdict).toBe('undetermined')
  expect(message).toBe(`the search gave up before one execution was done; ${coverage.unfaithful} do not count: it died`)
})

it('if the straight way does so, the other searches go on without it', async () => {
  const system = deadly<Counter, Model<Counter>>(counter(3), label => label === 'p1 read')
  const lost = always<Counter>(({ counter, read }) => !(read[1] === 'done' && read[2] === 'done' && counter === 1))
  const found = await check(system, { lost }, { executions: 500 })
  expect(found).toMatchObject({
    verdict: 'violated',
    property: 'lost',
    schedule: expect.toSatisfy(s => s.length === 4),
  })
})

it('a candidate that does so is dropped, and the schedule is shrunk by the others', async () => {
  const violation = { kind: 'safety', property: 'consistent' } as const
  const found = [
    'r1 prepares',
    'r1→tm #1 prepared',
    'r1→tm #1 prepared',
    'r2 prepares',
    'r2→tm #1 prepared',
    'tm committed',
    'tm→r1 #1 committed',
    'tm→r1 #1 committed',
    'r2 aborts',
  ]
  const resources = () => twoPhaseCommit(2, { impatient: true })
  const undisturbed = await shrink(resources(), { consistent }, found, violation)
  const system = deadly<Commit, Model<Commit>>(
    resources(),
    (label, { manager }) => label === 'r2 aborts' && manager === 'init',
  )
  expect((await shrink(system, { consistent }, found, violation)).schedule).toEqual(undisturbed.schedule)
})

it('walks that do not count are replaced by others, up to as many as were wanted', async () => {
  let walks = 0
  const system = deadly(ring(), label => label === 'circle' && ++walks % 50 === 0)
  const options = { property: 'comesHome', walks: 20, walkLength: 30, random: new Random(1) }
  const fallen = ['move', 'move', 'fall']
  const { live, failed, begin } = await recover(cellsOf(system, { comesHome }), fallen, options)
  expect(live).toBeUndefined()
  expect(failed).toBe(20)
  expect(begin.schedule.map(({ label }) => label)).toEqual(fallen)
  const always = deadly(ring(), label => label === 'circle')
  await expect(recover(cellsOf(always, { comesHome }), fallen, options)).rejects.toThrow('it died')
})
