import { describe, expect, it } from 'vitest'
import { check } from '../../checker/check.ts'
import { electionSafety, raft, someLeader } from './systems/raft.ts'
import { allAcknowledged, transport } from './systems/transport.ts'

// The models are choice for choice like the examples, where an execution costs 0.3 to 0.5 s and a step 2 ms. So what a
// search takes there can be told here, exactly and in no time.
const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

describe('a check of the vote race of liferaft', () => {
  const properties = { electionSafety, someLeader }

  it('takes less than thirty executions in the median', { timeout: 300_000 }, async () => {
    const taken = []
    // With ten seeds the median is 18 to 41, by which ten.
    for (let seed = 1; seed <= 40; seed++) {
      const verdict = await check(raft(), properties, { seed, executions: 400 })
      expect(verdict).toMatchObject({ verdict: 'violated', property: 'electionSafety', kind: 'safety', repeated: true })
      taken.push(verdict.discovery!.execution)
    }
    expect(median(taken)).toBeLessThan(30)
  })

  it('leaves nothing in the schedule that the race does not need', async () => {
    const { schedule } = await check(raft(), properties, { seed: 4, executions: 200 })
    // Two elections; for each a connection to the voter; both requests at once; both votes.
    expect(schedule).toHaveLength(9)
    expect(schedule.filter(label => label.startsWith('overlap'))).toHaveLength(1)
  })

  it('finds nothing where check and vote are one', async () => {
    const { verdict, coverage } = await check(raft({ atomic: true }), properties, { executions: 200 })
    expect(verdict).toBe('held')
    expect(coverage.transient).toBe(0)
  })
})

describe('a check of the published transport bug', () => {
  it.each(seeds)('names the step after which both ends ignore each other (seed %i)', async seed => {
    const system = transport()
    const verdict = await check(system, { allAcknowledged }, { seed, executions: 50 })
    expect(verdict).toMatchObject({ verdict: 'violated', kind: 'liveness', criticalTransition: { case: 'C1' } })
    expect(verdict.discovery!.execution).toBeLessThan(20)
    // Whichever comes last: the acknowledgement that the sender waits for, or the late SYN.
    const { label } = verdict.criticalTransition!
    expect(label).toMatch(/^(receiver→sender #\d+ ACK|sender→receiver #\d+ SYN) /)
    await system.reset()
    for (const next of verdict.schedule) await system.execute(system.enabled().find(each => each.label === next)!)
    const { established, seq, known } = system.state()
    expect(established).toBe(true)
    expect(known).not.toBe(Math.floor(seq / 1000))
  })

  it.each(seeds)('finds nothing in the correct build (seed %i)', async seed => {
    const { verdict } = await check(transport({ correct: true }), { allAcknowledged }, { seed, executions: 100 })
    expect(verdict).toBe('held')
  })
})
