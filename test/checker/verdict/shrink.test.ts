import { describe, expect, it } from 'vitest'
import { replay } from '../../../checker/cells/replay.ts'
import { always, eventually } from '../../../checker/system/property.ts'
import { shrink } from '../../../checker/verdict/shrink-recorded.ts'
import { Model, type Transition } from '../systems/model.ts'
import { processes } from '../systems/processes.ts'
import { comesHome, ring } from '../systems/ring.ts'
import { allAcknowledged, transport } from '../systems/transport.ts'
import { consistent, twoPhaseCommit } from '../systems/two-phase-commit.ts'

/** Both prepare; the manager hears it between their steps and commits; one obeys and the other gives up. */
const inconsistent = [
  'r1 prepares',
  'r1→tm #1 prepared',
  'r1→tm #1 prepared',
  'r2 prepares',
  'r1→tm #1 prepared',
  'r2→tm #1 prepared',
  'tm committed',
  'tm→r1 #1 committed',
  'tm→r1 #1 committed',
  'r2 aborts',
  'tm→r1 #1 committed',
]

const times = (count: number, label: string): string[] => Array(count).fill(label)

/** Crashes when it is hit three times in a row. */
const fragile = () =>
  new Model<number>(0, hits => {
    const hit: Transition<number> = { kind: 'deliver', node: 'n', label: 'hit', next: () => hits + 1 }
    const crash = { kind: 'crash', node: 'n', message: 'ended with code 1' } as const
    const rest: Transition<number> = { kind: 'timer', node: 'n', label: 'rest', next: () => 0 }
    return [hits === 2 ? { ...hit, findings: [crash] } : hit, rest]
  })

/** Has a step that never ends, and one that takes long: who has little patience takes it for endless. */
const thinker = () => {
  let patience = 1
  const patiences: number[] = []
  const divergence = { kind: 'divergence', node: 'n', message: 'still busy' } as const
  const system = new Model<number>(0, steps =>
    ['think', 'slow', 'endless'].map((label): Transition<number> => {
      const isEndless = label === 'endless' || (label === 'slow' && patience < 1)
      return { kind: 'deliver', node: 'n', label, next: () => steps + 1, findings: isEndless ? [divergence] : [] }
    }),
  )
  const setPatience = (share: number) => {
    patience = share
    patiences.push(share)
  }
  return Object.assign(system, { patiences, processes: processes({ setPatience }) })
}

interface Mortal {
  readonly place: 'away' | 'home' | 'dead'
  readonly bangs: number
}

const isHome = ({ place }: Mortal): boolean => place === 'home'

/** Goes home unless it is killed; what bangs does no harm. */
const mortal = () =>
  new Model<Mortal>({ place: 'away', bangs: 0 }, ({ place, bangs }): Transition<Mortal>[] => {
    const bang = { kind: 'timer', node: 'n', label: 'bang', next: () => ({ place, bangs: (bangs + 1) % 5 }) } as const
    if (place !== 'away') return [bang]
    return [
      { kind: 'timer', node: 'n', label: 'go', next: () => ({ place: 'home', bangs }) },
      { kind: 'crash', node: 'n', label: 'kill', next: () => ({ place: 'dead', bangs }) },
      bang,
    ]
  })

interface Electing {
  readonly drawn: number
  readonly ticks: number
  readonly votes: number
}

/** It is elected after a number of ticks that it draws. Each call draws too, and comes to nothing more before. */
const electing = (needed: readonly number[]) =>
  new Model<Electing>({ drawn: 0, ticks: 0, votes: 0 }, ({ drawn, ticks, votes }) => {
    const isReady = ticks >= needed[drawn]!
    const vote = { kind: 'deliver', node: 'm', label: `n→m #1 vote ${drawn}` } as const
    return [
      { kind: 'client', node: '', label: 'client put', next: () => ({ drawn: Math.min(3, drawn + 1), ticks, votes }) },
      { kind: 'timer', node: 'n', label: 'n timer +100ms', next: () => ({ drawn, ticks: ticks + 1, votes }) },
      ...(isReady && votes === 0 ? [{ ...vote, next: () => ({ drawn, ticks, votes: 1 }) }] : []),
    ]
  })
const notElected = always<Electing>(({ votes }) => votes === 0)

interface Clocks {
  readonly drawn: number
  readonly at: number
  readonly fired: readonly string[]
}

/** Two nodes whose clocks go together, so that the timer that is due first fires first. A call makes that of `a` late. */
const together = () =>
  new Model<Clocks>({ drawn: 0, at: 0, fired: [] }, ({ drawn, at, fired }) => {
    const due = { a: 100 + 80 * drawn, b: 150 }
    const [first] = (['a', 'b'] as const).filter(name => !fired.includes(name)).sort((x, y) => due[x] - due[y])
    const call = { kind: 'client', node: '', label: 'client put', next: () => ({ drawn: 1, at, fired }) } as const
    if (first === undefined) return [call]
    const afterMs = due[first] - at
    const next = () => ({ drawn, at: due[first], fired: [...fired, first] })
    return [call, { kind: 'timer', node: first, label: `${first} timer +${afterMs}ms`, afterMs, next }]
  })
const notBoth = always<Clocks>(({ fired }) => fired.length < 2)

describe('shrinking a recorded schedule', () => {
  it('drops calls that only made a node draw other random numbers, and so shifted later timers', async () => {
    const violation = { kind: 'safety', property: 'notElected' } as const
    const shrunkOf = async (needed: readonly number[]) => {
      const calls = times(3, 'client put')
      const ticks = times(needed[3]!, 'n timer +100ms')
      const found = [...calls, ...ticks, 'n→m #1 vote 3']
      return (await shrink(electing(needed), { notElected }, found, violation)).schedule
    }
    expect(await shrunkOf([3, 4, 4, 2])).toEqual([...times(3, 'n timer +100ms'), 'n→m #1 vote 0'])
    expect(await shrunkOf([1, 2, 3, 2])).toEqual(['n timer +100ms', 'n→m #1 vote 0'])
    // With so many timers it would be longer.
    expect(await shrunkOf([9, 9, 9, 2])).toHaveLength(6)
  })

  it('matches timers by node and order where others are due first', async () => {
    const violation = { kind: 'safety', property: 'notBoth' } as const
    const found = ['client put', 'b timer +150ms', 'a timer +30ms']
    const { schedule } = await shrink(together(), { notBoth }, found, violation)
    expect(schedule).toEqual(['a timer +100ms', 'b timer +50ms'])
  })

  it('leaves what the violation of safety needs, and executes it again', async () => {
    const properties = { consistent }
    const system = twoPhaseCommit(2, { impatient: true })
    const { schedule, message, minimal } = await shrink(system, properties, inconsistent, {
      kind: 'safety',
      property: 'consistent',
    })
    expect(schedule).toEqual([
      'r1 prepares',
      'r1→tm #1 prepared',
      'r2 prepares',
      'r2→tm #1 prepared',
      'tm committed',
      'tm→r1 #1 committed',
      'r2 aborts',
    ])
    expect(message).toBe('consistent does not hold after step 7 (r2 aborts)')
    expect(minimal).toBe(true)
    expect(system.state().resources).toEqual(['committed', 'aborted'])
  })

  it('leaves what a crash needs', async () => {
    const found = ['hit', 'rest', 'hit', 'hit', 'rest', 'hit', 'hit', 'hit']
    const { schedule, message, minimal } = await shrink(fragile(), {}, found, { kind: 'crash', property: null })
    expect(schedule).toEqual(['hit', 'hit', 'hit'])
    expect(message).toBe('crash of n after step 3 (hit): ended with code 1')
    expect(minimal).toBe(true)
  })

  it('a shrunk schedule to a dead state leads to a dead state', async () => {
    const found = ['move', 'turn off', 'plod', 'plod', 'return', 'move', 'move', 'fall']
    const { schedule, message } = await shrink(ring({ detour: 3 }), { comesHome }, found, {
      kind: 'liveness',
      property: 'comesHome',
    })
    expect(schedule).toEqual(['move', 'move', 'fall'])
    expect(message).toMatch(
      /^comesHome can never hold again after step 3 \(fall\): it did not recover in 60 walks of up to 500 steps, /,
    )
  })

  it('leaves what the published transport bug needs', async () => {
    const found = [
      ...times(4, 'sender timer +100ms'),
      'sender→receiver #5 SYN 3001',
      'sender→receiver #4 SYN 2001',
      'sender→receiver #2 SYN 1001',
      'receiver→sender #2 ACK 2001',
      'receiver→sender #1 ACK 3001',
    ]
    const { schedule } = await shrink(transport(), { allAcknowledged }, found, {
      kind: 'liveness',
      property: 'allAcknowledged',
    })
    expect(schedule).toEqual([
      ...times(2, 'sender timer +100ms'),
      'sender→receiver #3 SYN 2001',
      'sender→receiver #2 SYN 1001',
      'receiver→sender #1 ACK 2001',
    ])
  })

  it('gives candidates of a divergence little time, and its result the whole time', async () => {
    const system = thinker()
    const like = { kind: 'divergence' } as const
    expect(await shrink(system, {}, ['think', 'think', 'endless'], like)).toMatchObject({
      schedule: ['endless'],
      minimal: true,
    })
    expect(system.patiences).toContain(0.1)
    expect(system.patiences.at(-1)).toBe(1)
    // With little patience the last step seems not to be needed.
    expect(await shrink(thinker(), {}, ['think', 'slow', 'endless'], like)).toMatchObject({
      schedule: ['endless'],
      minimal: true,
    })
  })

  it('the step before the critical transition must recover: the last step is not critical merely because it cannot be dropped', async () => {
    const schedule = ['kill', 'bang', 'bang']
    const { schedule: shortest, criticalTransition } = await shrink(mortal(), { home: eventually(isHome) }, schedule, {
      kind: 'liveness',
      property: 'home',
    })
    expect(shortest).toEqual(['kill'])
    expect(criticalTransition).toMatchObject({ case: 'C1', step: 1 })
  })

  it('gives the shortest so far when a limit is met', async () => {
    const like = { kind: 'safety', property: 'consistent' } as const
    const system = twoPhaseCommit(2, { impatient: true })
    const { schedule, minimal } = await shrink(system, { consistent }, inconsistent, like, { executions: 2 })
    expect(minimal).toBe(false)
    expect((await replay(system, { consistent }, schedule)).violation?.step).toBe(schedule.length)
  })

  it('refuses a schedule that violates nothing, or something else', async () => {
    const like = { kind: 'safety', property: 'consistent' } as const
    await expect(shrink(twoPhaseCommit(2), { consistent }, ['r1 prepares'], like)).rejects.toThrow(
      'nothing to shrink: expected a violation of consistent, but the schedule does not come to one',
    )
    await expect(shrink(fragile(), {}, ['hit', 'hit', 'hit'], { kind: 'divergence' })).rejects.toThrow(
      'nothing to shrink: expected a divergence, but crash of n after step 3 (hit): ended with code 1',
    )
    const death = { kind: 'liveness', property: 'comesHome' } as const
    await expect(shrink(ring(), { comesHome }, ['move'], death)).rejects.toThrow(
      'nothing to shrink: expected a violation of comesHome, but the schedule does not come to one',
    )
    await expect(shrink(ring(), {}, ['move'], death)).rejects.toThrow(
      'no property "comesHome" that holds eventually: there is none',
    )
  })

  it('refuses a schedule that cannot be executed', async () => {
    const like = { kind: 'safety', property: 'consistent' } as const
    await expect(shrink(twoPhaseCommit(2), { consistent }, ['r9 prepares'], like)).rejects.toMatchObject({
      name: 'Diverged',
      step: 1,
    })
  })
})
