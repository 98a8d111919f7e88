import { expect, it, onTestFinished, vi } from 'vitest'
import { check } from '../../checker/check.ts'
import { consistent, twoPhaseCommit } from './systems/two-phase-commit.ts'

it('says what a starved check could not do: two executions in two minutes looked at little', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  const system = twoPhaseCommit(3)
  const reset = system.reset.bind(system)
  system.reset = () => {
    now += 50_000
    return reset()
  }
  const { verdict, notes } = await check(system, { consistent }, { milliseconds: 120_000 })
  expect(verdict).toBe('held')
  expect(notes).toEqual([
    expect.stringMatching(
      /^only \d executions were done in \d+ s: the service is slow or something else used its CPU; these searches had no turn: .*bounded/,
    ),
  ])
})

it('has nothing to say of a check that did what it should', async () => {
  const { notes } = await check(twoPhaseCommit(3), { consistent }, { executions: 30 })
  expect(notes).toEqual([])
})
