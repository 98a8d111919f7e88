import { describe, expect, it } from 'vitest'
import { check } from '../../checker/check.ts'
import { DoesNotStart } from '../../checker/system/errors.ts'
import { always, eventually } from '../../checker/system/property.ts'
import { Model, type Transition } from './systems/model.ts'

interface Count {
  readonly hits: number
  readonly rests: number
}

const ended = (kind: 'crash' | 'divergence') => [{ kind, node: 'n', message: 'its last words' }]

/** Its second hit ends it by a crash or divergence. It may also rest, four times at most. */
const fragile = (kind: 'crash' | 'divergence' = 'crash') =>
  new Model<Count>({ hits: 0, rests: 0 }, ({ hits, rests }) => {
    const hit: Transition<Count> = {
      ...{ kind: 'deliver', node: 'n', label: 'hit' },
      next: () => ({ hits: hits + 1, rests }),
      ...(hits === 1 && { findings: ended(kind) }),
    }
    const rest: Transition<Count> = {
      kind: 'timer',
      node: 'n',
      label: 'rest',
      next: () => ({ hits, rests: rests + 1 }),
    }
    return rests < 4 ? [hit, rest] : []
  })

/** Violated by a path along which nothing crashes. */
const neverRested = always<Count>(({ rests }) => rests < 4)
const fewHits = always<Count>(({ hits }) => hits < 9)
const noHits = always<Count>(({ hits }) => hits < 1)

describe.each(['auto', 'bounded', 'walk'] as const)('a %s check of one property', search => {
  it.each(['crash', 'divergence'] as const)('goes on after a %s, which is not asked for', async kind => {
    const all = { neverRested, noHits }
    const options = { search, property: 'neverRested', executions: 300 } as const
    const { verdict, property, schedule, notes, coverage } = await check(fragile(kind), all, options)
    expect({ verdict, property, schedule }).toEqual({
      ...{ verdict: 'violated', property: 'neverRested' },
      schedule: ['rest', 'rest', 'rest', 'rest'],
    })
    expect(coverage.broken).toBeGreaterThan(0)
    expect(notes).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^${coverage.broken} of \\d+ executions ended by a crash or divergence, which was not looked for, and what comes after it was not searched; the first: ${kind} of n after step \\d+ \\(hit\\): its last words$`,
        ),
      ),
    )
  })

  it('that holds says that what comes after a crash was not searched', async () => {
    const { verdict, message } = await check(fragile(), { fewHits }, { search, property: 'fewHits', executions: 60 })
    expect(verdict).toBe('held')
    expect(message).toMatch(/; \d+ ended by a crash or divergence, and what comes after it was not searched$/)
  })
})

it('a property that does not hold where a node crashes is violated there', async () => {
  const noSecond = always<Count>(({ hits }) => hits < 2)
  const { kind, schedule } = await check(fragile(), { noSecond }, { property: 'noSecond', executions: 60 })
  expect({ kind, schedule }).toEqual({ kind: 'safety', schedule: ['hit', 'hit'] })
})

it('a check of one property of which every execution ends by a crash is undetermined', async () => {
  const short = new Model<Count>({ hits: 0, rests: 0 }, ({ hits, rests }) => [
    { kind: 'timer', node: 'n', label: 'go', next: () => ({ hits: hits + 1, rests }), findings: ended('crash') },
  ])
  const hits = eventually<Count>(each => each.hits > 3)
  const { verdict, message } = await check(short, { hits }, { property: 'hits', executions: 10 })
  expect(verdict).toBe('undetermined')
  expect(message).toMatch(/^10 of 10 executions ended by a crash or divergence.*: crash of n after step 1 \(go\)/)
})

it('a system that does not start is told so, whatever property is asked for', async () => {
  const system = Object.assign(fragile(), { reset: async () => ended('crash') })
  await expect(check(system, { fewHits }, { property: 'fewHits', executions: 10 })).rejects.toThrow(DoesNotStart)
})

it('a check of everything still ends at a crash', async () => {
  const { verdict, kind, coverage } = await check(fragile(), { fewHits }, { executions: 60 })
  expect({ verdict, kind, broken: coverage.broken }).toEqual({ verdict: 'violated', kind: 'crash', broken: 0 })
})
