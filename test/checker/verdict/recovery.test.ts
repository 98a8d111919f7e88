import { describe, expect, it } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always, eventually } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import { confirmCriticalTransition } from '../../../checker/verdict/critical.ts'
import { describeDeath, recoveryRateMax } from '../../../checker/verdict/evidence.ts'
import { defaultWalks, recover, Scouts, walkAgain } from '../../../checker/verdict/recovery.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { choiceOf, Model, type Transition } from '../systems/model.ts'
import { comesHome, type Ring, ring } from '../systems/ring.ts'

describe('walks that look for life', () => {
  it('report the violation that they meet', async () => {
    const safe = always<Ring>(({ where, place }) => where !== 'pit' || place < 90)
    const deep = ring({ pit: 200 })
    const verdict = await check(deep, { comesHome, safe }, { search: 'bounded', executions: 50, walkLength: 20 })
    expect(verdict).toMatchObject({ verdict: 'violated', kind: 'safety', property: 'safe' })
    expect(verdict.schedule).toHaveLength(3 + 90)
  })

  it('are no evidence of death if they end by a crash', async () => {
    interface Fall {
      readonly place: number
    }
    // From 2 on there is only a way that ends in a crash: nobody knows what would have come after it.
    const crashes = new Model<Fall>({ place: 0 }, ({ place }): Transition<Fall>[] => [
      {
        kind: 'timer',
        node: 'n',
        label: 'go on',
        next: () => ({ place: place + 1 }),
        ...(place === 6 ? { findings: [{ kind: 'crash', node: 'n', message: 'n ended' }] } : {}),
      },
    ])
    const early = eventually<Fall>(({ place }) => place < 2)
    const options = { executions: 20, walkLength: 4, allowFindings: true } as const
    const { verdict, message } = await check(crashes, { early }, options)
    expect(verdict).not.toBe('violated')
    expect(message).not.toContain('can never hold again')
  })

  it('are none where nothing is left to happen, and the verdict says so', async () => {
    const { message, criticalTransition } = await check(ring({ still: true }), { comesHome }, { executions: 50 })
    expect(message).toBe('comesHome can never hold again after step 3 (fall): only faults are enabled there')
    expect(criticalTransition).toMatchObject({ step: 3, case: 'C1', walks: 0 })
  })

  it('take no fault, and neither does the search beside them: a state that only a fault can heal is dead', async () => {
    type Place = 'away' | 'home' | 'pit'
    const step = (kind: Transition<Place>['kind'], label: string, to: Place): Transition<Place> => ({
      ...{ kind, node: 'n', label },
      next: () => to,
    })
    const onlyByReset = new Model<Place>('away', place =>
      place === 'pit'
        ? [step('timer', 'circle', 'pit'), step('reset', 'reset n', 'home')]
        : [step('timer', 'go', 'home'), step('timer', 'leave', 'away'), step('timer', 'fall', 'pit')],
    )
    const home = eventually<Place>(place => place === 'home')
    const found = await check(onlyByReset, { home }, { executions: 50, walkLength: 30 })
    expect(found).toMatchObject({
      verdict: 'violated',
      schedule: ['fall'],
      criticalTransition: { step: 1, case: 'C1' },
    })
  })

  it('are described: how many, of which kinds, what else was searched, and how certain the result is', async () => {
    const { message } = await check(ring(), { comesHome }, { executions: 50 })
    expect(message).toMatch(
      /^comesHome can never hold again after step 3 \(fall\): it did not recover in 60 walks of up to 64 steps, 20 of them with prompt messages, 10 with one conversation after the other, nor in 4 longer ones, the longest of 1000 steps, 2 of these with prompt messages, nor did every schedule from there; with 95 % confidence fewer than 4\.9 % of such walks recover$/,
    )
  })
})

/** A node that asks another, and goes home where no answer has come for long enough; the answer keeps it away. */
interface Asked {
  readonly place: 'home' | 'away'
  /** For how many milliseconds the answer has been in flight; undefined where nobody was asked. */
  readonly onItsWayMs?: number
}

const asked = () => {
  let delayMsMax = Number.POSITIVE_INFINITY
  const system = new Model<Asked>({ place: 'home' }, ({ place, onItsWayMs }): Transition<Asked>[] => {
    const timer = (label: string, to: Asked): Transition<Asked> => ({
      ...{ kind: 'timer', node: 'n', label },
      next: () => to,
    })
    if (place === 'home') return [timer('n leaves', { place: 'away' }), timer('n stays', { place: 'home' })]
    if (onItsWayMs === undefined) return [timer('n asks', { place: 'away', onItsWayMs: 0 })]
    const later = onItsWayMs + 600
    const hear = { kind: 'deliver', node: 'n', label: 'm→n #1 no', next: () => ({ place: 'away' }) as const } as const
    const goHome = timer('n waits', later < 1200 ? { place: 'away', onItsWayMs: later } : { place: 'home' })
    return later <= delayMsMax ? [hear, goHome] : [hear]
  })
  const setDelayMsMax = (milliseconds: number) => {
    delayMsMax = milliseconds
  }
  return { system, withBound: () => Object.assign(system, { setDelayMsMax }) }
}

describe('what heals by a message that is later than in a usual network', () => {
  const home = eventually<Asked>(({ place }) => place === 'home')
  const suspect = ['n leaves']
  const options = { property: 'home', walks: 20, walkLength: 64, random: new Random(1) }

  it('is dead, and it is said for which network', async () => {
    const { live, failed, isBound } = await recover(cellsOf(asked().withBound(), { home }), suspect, options)
    expect({ live, failed, isBound }).toEqual({ live: undefined, failed: 20, isBound: true })
    const wanted = { ...options, scouts: new Scouts(), walkLengthMax: 512 }
    const cells = cellsOf(asked().withBound(), { home })
    const critical = await confirmCriticalTransition(cells, suspect, wanted)
    expect(critical).toMatchObject({ case: 'C1', step: 1 })
    expect(describeDeath('home', 'n leaves', critical, 1).evidence).toContain(
      'it did not recover in 20 walks of up to 64 steps, with no message in flight for longer than 1 s, ',
    )
  })

  it('is alive where the system does not say how long messages are on their way', async () => {
    const { live, isBound } = await recover(cellsOf(asked().system, { home }), suspect, options)
    expect([live?.at(-1), isBound]).toEqual(['n waits', false])
  })

  it('is limited in the walks alone, not on the way to where they begin', async () => {
    const late = ['n leaves', 'n asks', 'n waits', 'n waits', 'n leaves']
    const { failed, begin } = await recover(cellsOf(asked().withBound(), { home }), late, options)
    expect([failed, begin.schedule.length]).toEqual([20, 5])
  })
})

describe('walks', () => {
  it('that repeat given steps do not make a state terminal if these steps are not enabled', async () => {
    const first = [walkAgain([choiceOf({ kind: 'timer', node: 'n', label: 'n flies' })])]
    const cells = cellsOf(ring({ detour: 3 }), { comesHome })
    const way = ['move', 'move', 'fall']
    const options = { property: 'comesHome', walks: 4, walkLength: 16, random: new Random(1), first }
    const { live, failed, isTerminal } = await recover(cells, way, options)
    expect({ live, failed, isTerminal }).toEqual({ live: undefined, failed: 4, isTerminal: false })
  })

  it('end at the first doubling of their length that meets nothing new', async () => {
    const circle = new Model<number>(0, place => [
      { kind: 'timer', node: 'n', label: 'on', next: () => (place + 1) % 12 },
    ])
    const cells = cellsOf(circle, { never: eventually<number>(() => false) })
    const options = { property: 'never', walkLength: 1000, choosers: ['fair'], random: new Random(1) } as const
    const settled = await recover(cells, [], { ...options, walks: 2, settlesFrom: 4 })
    // Twelve states: after 16 steps the second half holds some that are new, after 32 none.
    expect([settled.failed, settled.longest]).toEqual([2, 32])
    expect(cells.counts).toMatchObject({ executions: 2, steps: 64 })
    expect(await recover(cells, [], { ...options, walks: 1 })).toMatchObject({ longest: 1000 })
  })
})

describe('how sure a death is', () => {
  it('follows from the walks, and from how many suspects there were', () => {
    expect(recoveryRateMax(defaultWalks, 1)).toBeCloseTo(1 - 0.05 ** (1 / 60), 12)
    expect(recoveryRateMax(defaultWalks, 4)).toBeCloseTo(1 - 0.0125 ** (1 / 60), 12)
    // The bound holds: with such a rate, none of so many walks recovers in one of twenty cases.
    expect((1 - recoveryRateMax(30, 1)) ** 30).toBeCloseTo(0.05, 12)
  })
})

/** Nodes that must act one after the other, twice around, to recover; whoever acts out of turn begins it anew. */
const ceremony = (names: readonly string[]) => {
  interface State {
    readonly broken: boolean
    readonly done: number
  }
  const rounds = 2
  const system = new Model<State>({ broken: false, done: 0 }, ({ broken, done }): Transition<State>[] => {
    if (!broken)
      return [{ kind: 'timer', node: names[0]!, label: `${names[0]} fails`, next: () => ({ broken: true, done: 0 }) }]
    return names.map((name, index) => ({
      kind: 'timer',
      node: name,
      label: `${name} acts`,
      next: () => {
        const isNext = index === done % names.length
        const next = isNext ? done + 1 : index === 0 ? 1 : 0
        return next === rounds * names.length ? { broken: false, done: 0 } : { broken: true, done: next }
      },
    }))
  })
  return { system, works: eventually<State>(({ broken }) => !broken) }
}

it('a system that only a long order of steps heals is not called dead', async () => {
  // One of 65,536 such orders heals: a walk of 64 steps hardly ever takes it.
  const { system, works } = ceremony(['c', 'a', 'd', 'b'])
  for (const seed of [1, 2]) {
    const { verdict } = await check(system, { works }, { seed, executions: 5, walkLength: 16 })
    expect(verdict).not.toBe('violated')
  }
})

it('a system that takes a thousand steps to recover is not called dead', async () => {
  const { verdict } = await check(ring({ detour: 900, pit: 0 }), { comesHome }, { executions: 5 })
  expect(verdict).toBe('held')
})
