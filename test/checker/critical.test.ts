import { describe, expect, it } from 'vitest'
import { type Critical, findCriticalTransition } from '../../checker/critical.ts'
import { Executor, type Properties } from '../../checker/executor.ts'
import { eventually } from '../../checker/property.ts'
import { Random } from '../../checker/random.ts'
import { replay } from '../../checker/replay.ts'
import type { System } from '../../checker/system.ts'
import { defaultWeights } from '../../checker/weights.ts'
import { Model } from './systems/model.ts'
import { comesHome, type Ring, ring } from './systems/ring.ts'
import { allAcked, transport } from './systems/transport.ts'
import { decided, twoPhaseCommit } from './systems/two-phase-commit.ts'

const times = (count: number, label: string): string[] => Array(count).fill(label)

const find = <State>(
  system: System<State>,
  properties: Properties<State>,
  schedule: readonly string[],
  lengths: { walkLength: number; walkLengthMax?: number },
  seed = 1,
): Promise<Critical> =>
  findCriticalTransition(new Executor(system, properties), schedule, {
    property: Object.keys(properties)[0]!,
    walks: 20,
    walkLengthMax: lengths.walkLength,
    ...lengths,
    weights: defaultWeights,
    random: new Random(seed),
  })

/** At the other side of a large ring. */
const farAway = eventually<Ring>(({ place }) => place === 299)

/** Twice around the ring, then into the pit, and on for so many steps. */
const fallen = [...times(10, 'move'), 'fall', ...times(40, 'circle')]

describe('critical transition', () => {
  it.each([1, 2, 3, 4, 5])('is the fall into the pit, found from the last time at home (seed %i)', async seed => {
    const found = await find(ring(), { comesHome }, fallen, { walkLength: 100 }, seed)
    expect(found).toMatchObject({ case: 'C1', step: 11, walks: 20, walkLength: 100 })
  })

  it('leaves a closest live execution just before it', async () => {
    const { closestLive } = await find(ring(), { comesHome }, fallen, { walkLength: 100 })
    expect(closestLive!.slice(0, 11)).toEqual([...times(10, 'move'), 'move'])
    const { lastLive } = await replay(ring(), { comesHome }, closestLive!)
    expect(lastLive.get('comesHome')).toBe(closestLive!.length)
  })

  it('is certain in a state where nothing can happen, however short the execution', async () => {
    const found = await find(ring({ still: true }), { comesHome }, [...times(10, 'move'), 'fall'], { walkLength: 30 })
    expect(found).toMatchObject({ case: 'C1', step: 11 })
  })

  it('is found however late it comes, for walks have their whole length from there', async () => {
    const schedule = [...times(10, 'move'), 'fall', 'circle']
    const found = await find(ring(), { comesHome }, schedule, { walkLength: 50 })
    expect(found).toMatchObject({ case: 'C1', step: 11 })
  })

  it('is C2 where walks are too short to be live from the start', async () => {
    const found = await find(ring({ size: 300, pit: 0 }), { farAway }, ['move'], {
      walkLength: 100,
      walkLengthMax: 150,
    })
    expect(found).toMatchObject({ case: 'C2', step: 0, walkLength: 150 })
  })

  it('is none where walks that grow come to be live from the start', async () => {
    const found = await find(ring({ size: 300, pit: 0 }), { farAway }, ['move'], {
      walkLength: 100,
      walkLengthMax: 400,
    })
    expect(found.case).toBe('transient')
  })

  it('is the initial state where nothing can happen in it', async () => {
    const found = await find(new Model<Ring>({ where: 'pit', place: 0 }, () => []), { comesHome }, [], {
      walkLength: 9,
    })
    expect(found).toMatchObject({ case: 'C1', step: 0 })
  })

  it('is C2 where no walk of this length ever came home', async () => {
    // At home at the start; any way back takes more than fifty steps.
    const system = ring({ size: 1000, pit: 0, detour: 60 })
    const schedule = ['move', 'turn off', ...times(30, 'plod')]
    const found = await find(system, { comesHome }, schedule, { walkLength: 10 })
    expect(found.case).toBe('C2')
    expect(found.walkLength).toBe(10)
  })

  it('is none where longer walks recover', async () => {
    const system = ring({ size: 1000, pit: 0, detour: 60 })
    const schedule = ['move', 'turn off', ...times(30, 'plod')]
    const found = await find(system, { comesHome }, schedule, { walkLength: 10, walkLengthMax: 100 })
    expect(found.case).toBe('transient')
    const { lastLive } = await replay(system, { comesHome }, found.closestLive!)
    expect(lastLive.get('comesHome')).toBe(found.closestLive!.length)
  })

  it('is none in an execution that recovers from its end', async () => {
    const found = await find(ring(), { comesHome }, times(11, 'move'), { walkLength: 100 })
    expect(found.case).toBe('transient')
  })

  it('is the delivery of the late acknowledgement in the published transport bug', async () => {
    const schedule = ['send', 's timeout', 's→r syn 2', 's→r syn 1', 'r→s ack syn 1', 'r→s ack syn 2']
    const dead = [
      ...schedule,
      ...times(20, 's timeout')
        .flatMap(label => [label, 's→r data 2'])
        .slice(1),
    ]
    // The first data message is in flight already.
    const found = await find(transport(), { allAcked }, dead, { walkLength: 200 })
    expect(found).toMatchObject({ case: 'C1', step: 6 })
    expect(found.closestLive!.slice(0, 5)).toEqual(schedule.slice(0, 5))
    expect(found.closestLive![5]).not.toBe(schedule[5])
  })

  it('is the lost message where nothing sends it again, though a fault could not have been forced', async () => {
    // The budget of faults is not what keeps the system from living: walks take none.
    const found = await find(transport({ drops: 3, correct: true }), { allAcked }, ['send', 'drop s→r syn 1'], {
      walkLength: 100,
    })
    expect(found.case).toBe('transient')
  })

  it('throws where the execution does not repeat', async () => {
    await expect(find(twoPhaseCommit(2), { decided }, ['r9 prepares'], { walkLength: 10 })).rejects.toMatchObject({
      name: 'Diverged',
      step: 1,
    })
  })
})
