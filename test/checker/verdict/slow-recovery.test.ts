import { describe, expect, it } from 'vitest'
import { check } from '../../../checker/check.ts'
import { eventually } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import { recover } from '../../../checker/verdict/recovery.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { Model, type Transition } from '../systems/model.ts'

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

it('one that never recovers is called dead after a bounded effort, and the verdict says by which walks', async () => {
  const { verdict, schedule, message, steps } = await check(disappointed(), { trusts }, { executions: 30 })
  expect(verdict).toBe('violated')
  expect(schedule).toEqual(['follower timer +150ms'])
  expect(message).toContain(
    'it did not recover in 60 walks of up to 64 steps, 20 of them with prompt messages, ' +
      '10 with one conversation after the other, nor in 4 longer ones, the longest of 3000 steps, 2 of these with prompt messages',
  )
  expect(steps).toBeLessThan(30_000)
})

/** Two nodes that elect one of them, once its follower does not trust the leader any more. */
interface Election {
  readonly isLed: boolean
  readonly term: number
  /** Whether a has asked b for its vote. */
  readonly isAsked: boolean
}

/**
 * A new leader has to be of a later term than the old one, which had a high one. Terms rise only where b gives up waiting while
 * the question of a is in flight, so never in a healthy network, and in others by one in some steps.
 */
const election = (termOfLast: number) =>
  new Model<Election>({ isLed: true, term: 0, isAsked: false }, (state): Transition<Election>[] => {
    const step = (
      kind: 'timer' | 'deliver',
      node: string,
      label: string,
      change: Partial<Election>,
    ): Transition<Election> => ({ kind, node, label, afterMs: 50, next: () => ({ ...state, ...change }) })
    if (state.isLed)
      return [step('timer', 'a', 'a works', {}), step('timer', 'b', 'b gives up', { isLed: false, term: 0 })]
    if (!state.isAsked) return [step('timer', 'a', 'a asks', { isAsked: true })]
    const term = state.term + 1
    const isLed = term === termOfLast
    return [
      step('deliver', 'b', 'a→b #1 vote', { isAsked: false }),
      step('timer', 'b', 'b gives up', { isAsked: false, isLed, term: isLed ? 0 : term }),
    ]
  })

const isLed = eventually<Election>(({ isLed }) => isLed)

describe('an election that takes some hundred steps of a network that is not healthy', () => {
  it('is not called dead: walks become longer until they come to nothing new', async () => {
    for (const seed of [1, 2]) {
      const { verdict, coverage } = await check(election(40), { isLed }, { seed, executions: 9 })
      expect(verdict).toBe('held')
      expect(coverage.transient).toBeGreaterThan(0)
    }
  })

  it('is called dead if no time-out is ever long enough, with what was tried: the number of walks, the longest, and their kinds', async () => {
    const { verdict, schedule, message, steps } = await check(
      election(Number.POSITIVE_INFINITY),
      { isLed },
      { executions: 40 },
    )
    expect([verdict, schedule]).toEqual(['violated', ['b gives up']])
    expect(message).toMatch(
      /it did not recover in 60 walks of up to \d+ steps, 20 of them with prompt messages, 10 with one conversation after the other, nor in \d+ longer ones, the longest of 2000 steps, 2 of these with prompt messages/,
    )
    expect(steps).toBeLessThan(80_000)
  })
})
