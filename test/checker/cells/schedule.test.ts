import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Executor } from '../../../checker/cells/executor.ts'
import { replay } from '../../../checker/cells/replay.ts'
import { attempt, follow } from '../../../checker/cells/schedule.ts'
import { walk } from '../../../checker/cells/walk.ts'
import { defaultWeights, weighted } from '../../../checker/choosers/weights.ts'
import { Random } from '../../../checker/system/random.ts'
import { counter, nothingLost } from '../systems/counter.ts'
import { Model } from '../systems/model.ts'
import { electionSafety, raft, someLeader } from '../systems/raft.ts'

/** Offers the given labels in each state, and counts the steps. */
const offering = (...labels: string[]) =>
  new Model<number>(0, steps => labels.map(label => ({ kind: 'deliver', node: 'n', label, next: () => steps + 1 })))

const attempted = async (offered: string[], wanted: string[]) => {
  const executor = new Executor(offering(...offered), {})
  await executor.reset()
  await attempt(executor, wanted)
  return executor.labels()
}

describe('a schedule', () => {
  it('a schedule is followed to its end', async () => {
    const system = counter(2)
    const executor = new Executor(system, { nothingLost })
    await executor.reset()
    await follow(executor, ['p1 read', 'p2 read', 'p1 write', 'p2 write'])
    expect(system.state()).toEqual({ counter: 1, read: ['done', 'done'] })
    expect(executor.violation).toEqual({
      kind: 'safety',
      property: 'nothingLost',
      step: 4,
      message: 'nothingLost does not hold after step 4 (p2 write)',
    })
  })

  it('stops where it diverges, and says what was expected and what was there', async () => {
    const executor = new Executor(counter(2), {})
    await executor.reset()
    await expect(follow(executor, ['p1 read', 'p1 read'])).rejects.toMatchObject({
      name: 'Diverged',
      step: 2,
      expected: 'p1 read',
      enabled: ['p1 write', 'p2 read'],
      message: 'diverged at step 2: expected "p1 read", but enabled are "p1 write", "p2 read"',
    })
    expect(executor.labels()).toEqual(['p1 read'])
  })

  it('says so where nothing is enabled any more', async () => {
    const { diverged, steps } = await replay(counter(1), {}, ['p1 read', 'p1 write', 'p1 read'])
    expect(diverged?.message).toBe('diverged at step 3: expected "p1 read", but nothing is enabled')
    expect(steps).toBe(2)
  })

  it('skips what is not enabled when it is attempted', async () => {
    expect(await attempted(['a→b #1 x'], ['a→b #1 x', 'a→b #1 y', 'c→b #1 x', 'a→b #1 x'])).toEqual([
      'a→b #1 x',
      'a→b #1 x',
    ])
  })

  it('takes the choice with the nearest numbers when it is attempted', async () => {
    const offered = ['n1→n2 #2 vote term=3', 'n1→n2 #5 vote term=4', 'n2→n1 #6 vote term=4']
    expect(await attempted(offered, ['n1→n2 #6 vote term=4'])).toEqual(['n1→n2 #5 vote term=4'])
    expect(await attempted(offered, ['n1→n2 #2 vote term=3'])).toEqual(['n1→n2 #2 vote term=3'])
  })

  it('is attempted until the first violation', async () => {
    const executor = new Executor(offering('a'), { short: { kind: 'always', holds: (steps: number) => steps < 2 } })
    await executor.reset()
    await attempt(executor, ['a', 'a', 'a', 'a'])
    expect(executor.labels()).toEqual(['a', 'a'])
  })

  it('leads to the same states again, whatever walk it comes from', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async seed => {
        const fingerprints: string[] = []
        const system = raft()
        const observer = { onStep: () => void fingerprints.push(system.fingerprint()!) }
        const executor = new Executor(system, {}, { observer })
        await executor.reset()
        await walk(executor, weighted(new Random(seed), defaultWeights), 40, () => false)
        const first = fingerprints.splice(0)
        await replay(system, {}, executor.labels(), { observer })
        expect(first).toHaveLength(40)
        expect(fingerprints).toEqual(first)
      }),
      { numRuns: 25 },
    )
  })

  it('has the outcome of each step in a replay', async () => {
    const election = [
      'n1 timer',
      'n1→n2 #1 open :7000',
      'n2→n1 #1 accept :7000',
      'n1→n2 #2 vote term=1',
      'n2→n1 #2 voted term=1 granted',
      'n1 timer',
    ]
    const { steps, violation, lastLive, diverged } = await replay(raft(), { electionSafety, someLeader }, election)
    expect({ steps, violation, lastLive, diverged }).toEqual({
      steps: 6,
      violation: undefined,
      lastLive: new Map([['someLeader', 6]]),
      diverged: undefined,
    })
  })
})
