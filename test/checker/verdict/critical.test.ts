import { describe, expect, it } from 'vitest'
import type { Properties } from '../../../checker/cells/executor.ts'
import { replay } from '../../../checker/cells/replay.ts'

import { eventually } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import type { System } from '../../../checker/system/system.ts'
import { type Critical, findCriticalTransition } from '../../../checker/verdict/critical.ts'
import { Scouts } from '../../../checker/verdict/recovery.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { Model } from '../systems/model.ts'
import { comesHome, type Ring, ring } from '../systems/ring.ts'
import { allAcknowledged, transport } from '../systems/transport.ts'
import { decided, twoPhaseCommit } from '../systems/two-phase-commit.ts'

const times = (count: number, label: string): string[] => Array(count).fill(label)

const find = <State>(
  system: System<State>,
  properties: Properties<State>,
  schedule: readonly string[],
  lengths: { walkLength: number; walkLengthMax?: number },
  seed = 1,
): Promise<Critical> =>
  findCriticalTransition(cellsOf(system, properties), schedule, {
    property: Object.keys(properties)[0]!,
    walks: 20,
    scouts: new Scouts(),
    walkLengthMax: lengths.walkLength,
    ...lengths,
    random: new Random(seed),
  })

/** At the other side of a large ring. */
const farAway = eventually<Ring>(({ place }) => place === 299)

/** Twice around the ring, then into the pit, and on for so many steps. */
const fallen = [...times(10, 'move'), 'fall', ...times(40, 'circle')]

describe('critical transition', () => {
  it.each([1, 2, 3, 4, 5])('is the step into the pit after the last live state (seed %i)', async seed => {
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

  it('is found however late it comes, because each walk has its whole length from its state on', async () => {
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

  it('is none if longer walks are live from the start', async () => {
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

  it('is C2 if no walk of this length ever became live', async () => {
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
    const schedule = [
      'sender timer +100ms',
      'sender timer +100ms',
      'sender→receiver #3 SYN 2001',
      'sender→receiver #1 SYN 1001',
      'receiver→sender #1 ACK 2001',
    ]
    const on = Array.from({ length: 20 }, (_, i) => ['sender timer +100ms', `sender→receiver #${5 + i} DATA 2002`])
    const found = await find(transport(), { allAcknowledged }, [...schedule, ...on.flat()], { walkLength: 200 })
    expect(found).toMatchObject({ case: 'C1', step: 5 })
    expect(found.closestLive!.slice(0, 4)).toEqual(schedule.slice(0, 4))
    expect(found.closestLive![4]).not.toBe(schedule[4])
  })

  it('is none if the only loss is of a message that is sent again', async () => {
    const system = transport({ drops: 1, correct: true })
    const found = await find(system, { allAcknowledged }, ['drop sender→receiver #1 SYN 1001'], { walkLength: 100 })
    expect(found.case).toBe('transient')
  })

  it('throws where the execution does not repeat', async () => {
    await expect(find(twoPhaseCommit(2), { decided }, ['r9 prepares'], { walkLength: 10 })).rejects.toMatchObject({
      name: 'Diverged',
      step: 1,
    })
  })
})
