import { describe, expect, it } from 'vitest'
import { check } from '../../checker/check.ts'
import { eventually } from '../../checker/property.ts'
import { Random } from '../../checker/random.ts'
import { recover } from '../../checker/verdict/recovery.ts'
import { cellsOf } from './systems/cells-of.ts'
import { Model, type Transition } from './systems/model.ts'

/** A leader and who follows it. */
interface Followed {
  readonly isTrusted: boolean
  /** Heartbeats that were heard since the last time that one was missed. */
  readonly heard: number
  readonly isOnItsWay: boolean
}

/**
 * A leader is not trusted any more once its follower has waited too long for a heartbeat; it is again after so many
 * heartbeats in a row, each of which comes long before the follower gives up. So it recovers in twice as many steps of a
 * healthy network, and of no other: one time-out that comes before a message, or before a heartbeat is due, spoils all.
 */
const followed = (heartbeats: number) =>
  new Model<Followed>({ isTrusted: true, heard: 0, isOnItsWay: false }, (state): Transition<Followed>[] => {
    const timer = (node: string, afterMs: number, change: Partial<Followed>): Transition<Followed> => {
      return {
        kind: 'timer',
        node,
        label: `${node} timer +${afterMs}ms`,
        afterMs,
        next: () => ({ ...state, ...change }),
      }
    }
    const heard = state.isTrusted ? 0 : state.heard + 1
    const isTrusted = state.isTrusted || heard === heartbeats
    const hear: Transition<Followed> = {
      kind: 'deliver',
      node: 'follower',
      label: `leader→follower #1 heartbeat`,
      next: () => ({ isTrusted, heard: isTrusted ? 0 : heard, isOnItsWay: false }),
    }
    const giveUp = timer('follower', 150, { isTrusted: false, heard: 0 })
    return [state.isOnItsWay ? hear : timer('leader', 50, { isOnItsWay: true }), giveUp]
  })

const trusts = eventually<Followed>(({ isTrusted }) => isTrusted)

/** The same, but a follower that gave up trusts nobody ever again. */
const disappointed = () => followed(Number.POSITIVE_INFINITY)

describe('a system that recovers in a thousand steps of a healthy network alone', () => {
  it('is not called dead, and each suspect teaches the next walks how long they are to be', async () => {
    for (const seed of [1, 2]) {
      const { verdict, coverage } = await check(followed(500), { trusts }, { seed, executions: 40 })
      expect(verdict).toBe('held')
      // Eight executions are planned ahead, before the first of them teaches anything.
      expect(coverage.transient).toBeLessThanOrEqual(8)
    }
  })

  it('recovers in no walk of the usual length, and in no long one of another manner', async () => {
    const cells = cellsOf(followed(500), { trusts })
    const options = { property: 'trusts', walks: 60, walkLength: 64, random: new Random(1) }
    expect(await recover(cells, ['follower timer +150ms'], options)).toMatchObject({ live: undefined, failed: 60 })
  })
})

it('one that never does is, in a bounded effort, and the verdict says by which walks', async () => {
  const { verdict, schedule, message, steps } = await check(disappointed(), { trusts }, { executions: 30 })
  expect(verdict).toBe('violated')
  expect(schedule).toEqual(['follower timer +150ms'])
  expect(message).toContain(
    'it did not recover in 60 walks of up to 64 steps, 20 of them with prompt messages, ' +
      '10 with one conversation after the other, nor in 2 of up to 3000 steps with prompt messages',
  )
  expect(steps).toBeLessThan(30_000)
})
