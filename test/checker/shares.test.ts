import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { check, type Progress, type SystemCheckOptions } from '../../checker/check.ts'
import { always, eventually } from '../../checker/system/property.ts'
import { counter, nothingLost } from './systems/counter.ts'
import { Model } from './systems/model.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** A door that is shut at the first step, and of which nobody can tell whether it ever opens again: each state is new. */
const door = () =>
  new Model(0, steps => [
    { kind: 'timer', node: 'n', label: `n timer +${steps + 1}ms`, next: () => steps + 1 },
    { kind: 'client', node: 'client ann', label: 'client ann', next: () => steps + 1 },
  ])
const open = eventually<number>(steps => steps === 0)

/** The model, of which each step takes so many milliseconds. */
const taking = <State>(model: Model<State>, milliseconds: number): Model<State> => {
  const execute = model.execute.bind(model)
  model.execute = choice => {
    vi.advanceTimersByTime(milliseconds)
    return execute(choice)
  }
  return model
}

/** When each phase began, in milliseconds. */
const phases = async <State>(model: Model<State>, properties: object, options: SystemCheckOptions<State>) => {
  const begun = performance.now()
  const told: [Progress['phase'], number][] = []
  const onProgress = ({ phase }: Progress) => {
    if (told.at(-1)?.[0] !== phase) told.push([phase, performance.now() - begun])
  }
  const verdict = await check(model, properties as never, { ...options, onProgress })
  return { verdict, told, milliseconds: performance.now() - begun }
}

describe('a suspect of which nobody can tell', () => {
  it('takes half of the time, the next one a sixth, and they make the verdict undetermined', async () => {
    const { verdict, told, milliseconds } = await phases(taking(door(), 1), { open }, { milliseconds: 30_000 })
    expect(verdict).toMatchObject({
      ...{ verdict: 'undetermined', property: 'open', kind: 'liveness', repeated: false },
      ...{ executions: 111, spent: { search: 8, goal: 0, examination: 103, audit: 0 } },
      message:
        'open did not come to hold in 8000 steps, and the time for it was over before it was known whether it ever can: 52 executions went into that',
    })
    expect(verdict.schedule).toHaveLength(8000)
    // A step that had begun is taken.
    expect(told).toEqual([
      ['searching', 8_000],
      ['finding the critical transition', 8_000],
      ['searching', 23_329],
      ['finding the critical transition', 23_329],
      ['searching', 28_330],
    ])
    expect(milliseconds).toBe(30_001)
  })

  it('leaves as much time as executing it once more will take', async () => {
    const options = { milliseconds: 30_000, recordingMs: 3_000 }
    const { verdict, milliseconds } = await phases(taking(door(), 1), { open }, options)
    expect(verdict).toMatchObject({ verdict: 'undetermined', property: 'open', schedule: { length: 8000 } })
    // 8 s to find it; to record its steps takes up to 12 s, for 3 of which there is time afterwards.
    expect(milliseconds).toBe(21_001)
  })

  it('leaves no more than half of what is left', async () => {
    const options = { milliseconds: 10_000, recordingMs: 1_000 }
    const { verdict, milliseconds } = await phases(taking(door(), 1), { open }, options)
    // The first execution ends after a third of the time.
    expect(verdict).toMatchObject({ verdict: 'undetermined', property: 'open' })
    expect(verdict.schedule.length + milliseconds).toBeLessThan(11_002)
  })

  it('is kept, and said to be in doubt, if the check is interrupted', async () => {
    const abort = new AbortController()
    const onProgress = ({ phase }: Progress) => phase === 'finding the critical transition' && abort.abort()
    const verdict = await check(taking(door(), 1), { open }, { signal: abort.signal, onProgress, walkLength: 20 })
    expect(verdict).toMatchObject({
      ...{ verdict: 'undetermined', property: 'open', kind: 'liveness' },
      message:
        'open did not come to hold in 2060 steps, and the check was interrupted before it was known whether it ever can: 0 executions went into that',
    })
    expect(verdict.schedule).toHaveLength(2060)
  })
})

describe('a violation that is found when the time is nearly over', () => {
  const late = () =>
    taking(
      new Model(0, steps => [
        { kind: 'timer', node: 'n', label: `n timer +${steps + 1}ms`, next: () => steps + 1 },
        { kind: 'timer', node: 'm', label: `m timer +${steps + 1}ms`, next: () => steps + 1 },
      ]),
      100,
    )
  const soon = always<number>(steps => steps < 20)

  it('is executed again, and shrunk for as long as there is time', async () => {
    const { verdict, milliseconds } = await phases(late(), { soon }, { milliseconds: 7_000 })
    expect(verdict).toMatchObject({ verdict: 'violated', repeated: true, schedule: { length: 20 } })
    // 2 s to find it, 2 s to repeat it, 3 s to shrink it, and 2 s to execute the result.
    expect(milliseconds).toBe(9_100)
  })

  it('is left to be looked at if the check is interrupted before', async () => {
    const abort = new AbortController()
    const onProgress = ({ phase }: Progress) => phase === 'repeating' && abort.abort()
    const verdict = await check(late(), { soon }, { signal: abort.signal, onProgress })
    expect(verdict).toMatchObject({
      ...{ verdict: 'undetermined', property: 'soon', kind: 'safety', repeated: false },
      message: expect.stringMatching(
        /^soon does not hold after step 20 .*; the check ended before that was executed again$/,
      ),
    })
    expect(verdict.schedule).toHaveLength(20)
  })
})

describe('every execution is counted by what it was for', () => {
  it('in a search that audits what it leaves out', async () => {
    const { spent } = await check(observed(), {}, { search: 'bounded', executions: 100 })
    expect(spent).toEqual({ search: 98, goal: 0, examination: 0, audit: 2 })
  })

  it('in a check that finds a violation', async () => {
    const { executions, spent, discovery } = await check(counter(2), { nothingLost }, { search: 'bounded', seed: 5 })
    expect(spent).toEqual({
      search: discovery!.execution,
      goal: 0,
      examination: executions - discovery!.execution,
      audit: 0,
    })
  })
})

/** Two counters; of their states only the sum is observed. */
const observed = () =>
  new Model(
    { a: 0, b: 0 },
    ({ a, b }) => [
      { kind: 'timer', node: 'a', label: 'a timer', next: () => ({ a: (a + 1) % 4, b }) },
      { kind: 'timer', node: 'b', label: 'b timer', next: () => ({ a, b: (b + 1) % 4 }) },
    ],
    {},
    ({ a, b }) => `${(a + b) % 4}`,
  )
