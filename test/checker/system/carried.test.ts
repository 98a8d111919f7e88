import { expect, test } from 'vitest'
import { replay } from '../../../checker/cells/replay.ts'
import { check } from '../../../checker/check.ts'
import { Undecided } from '../../../checker/system/errors.ts'
import { always, evaluate, eventually, history } from '../../../checker/system/property.ts'
import { modelOf } from '../systems/graph.ts'
import { Model, type Transition } from '../systems/model.ts'

/** Whether a way has come by 2. */
const by2 = (ways: readonly (readonly number[])[], then: number) => ({
  system: modelOf({ ways, live: [], bad: -1 }),
  never: always<number>(
    history<number, boolean>(
      (hasBeen, state) => hasBeen === true || state === 2,
      (state, hasBeen) => !(hasBeen && state === then),
    ),
  ),
})

test.each(['auto', 'bounded', 'walk'] as const)(
  'a state that was reached before is not the same where something else is carried along (%s)',
  async search => {
    // 0 goes to 1 or 2, both go to 3, and that to 4.
    const { system, never } = by2([[1, 2], [3], [3], [4], []], 4)
    const verdict = await check(system, { never }, { search, executions: 50 })
    expect(verdict).toMatchObject({ verdict: 'violated', property: 'never', schedule: ['to 2', 'to 3', 'to 4'] })
  },
)

test('every order of commuting steps is executed, because carried values may differ', async () => {
  const system = new Model<readonly boolean[]>(
    [false, false, false],
    done =>
      done.flatMap((isDone, i): Transition<readonly boolean[]>[] =>
        isDone ? [] : [{ kind: 'timer', node: `n${i}`, label: `n${i}`, next: () => done.with(i, true) }],
      ),
    { local: true },
  )
  const order = (state: readonly boolean[], before: string) =>
    before + state.flatMap((isDone, i) => (isDone && !before.includes(String(i)) ? [i] : [])).join('')
  const never = always<readonly boolean[]>(
    history<readonly boolean[], string>(
      (before = '', state) => order(state, before),
      (_, all) => all !== '201',
    ),
  )
  expect(await check(system, { never }, { search: 'bounded', executions: 50 })).toMatchObject({
    verdict: 'violated',
    schedule: ['n2', 'n0', 'n1'],
  })
})

test('what a fold does to a value reaches no other execution', async () => {
  const { system } = by2([[1, 2], [3], [3], [4], []], 4)
  const few = always<number>(
    history<number, number[]>(
      (states = [], state) => {
        states.push(state)
        return states
      },
      (_, states) => states.length <= 4 && states[0] === 0,
    ),
  )
  expect(await check(system, { few }, { executions: 30 })).toMatchObject({ verdict: 'held' })
})

test('in a state without a known past it is undecided', () => {
  const { never } = by2([[]], 0)
  expect(() => evaluate('never', never, 1, () => 'here')).toThrow(Undecided)
})

test('with a time bound, liveness is violated at the first step after the bound, if the system has a clock', async () => {
  const ways = [[1], [2], [3], [4], [0]]
  const live = eventually<number>(state => state === 0, { withinMs: 250 })
  const system = modelOf({ ways, live: [0], bad: -1 })
  const labels = ['to 1', 'to 2', 'to 3', 'to 4', 'to 0']
  expect((await replay(system, { live }, labels)).violation).toBeUndefined()
  const timed = Object.assign(system, { nowMs: () => 100 * system.state() })
  expect((await replay(timed, { live }, labels)).violation).toEqual({
    ...{ kind: 'safety', property: 'live', step: 4 },
    message: 'live did not hold for 0.3 s after step 4 (to 4), expected within 0.25 s',
  })
})
