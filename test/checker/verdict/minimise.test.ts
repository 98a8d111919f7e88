import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Cells } from '../../../checker/cells/cells.ts'
import { Executor, type Properties } from '../../../checker/cells/executor.ts'
import { replay } from '../../../checker/cells/replay.ts'
import { attempt } from '../../../checker/cells/schedule.ts'
import { walk } from '../../../checker/cells/walk.ts'
import { defaultWeights, weighted } from '../../../checker/choosers/weights.ts'
import { always } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import { startAfter, startAsOffered } from '../../../checker/system/start.ts'
import type { System } from '../../../checker/system/system.ts'
import { minimise } from '../../../checker/verdict/minimise.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { Model, type Transition } from '../systems/model.ts'
import { consistent, twoPhaseCommit } from '../systems/two-phase-commit.ts'

const minimiseSafety = async <State>(
  system: System<State>,
  properties: Properties<State>,
  schedule: readonly string[],
  limits = {},
) => {
  const cells = cellsOf(system, properties)
  const { schedule: found } = await cells.run({ start: startAfter(schedule) })
  const attempt = async (labels: readonly string[], cells: Cells) => {
    const outcome = await cells.run({ start: startAsOffered(labels) })
    return { ...outcome, isAlike: outcome.violation !== undefined }
  }
  const minimum = await minimise(cells, found, attempt, limits)
  return { ...minimum, schedule: minimum.schedule.map(choice => choice.label) }
}

/** A walk to a violation, or `undefined` where it meets none. */
const violatingWalk = async <State>(system: System<State>, properties: Properties<State>, seed: number) => {
  const executor = new Executor(system, properties)
  await executor.reset()
  await walk(executor, weighted(new Random(seed), defaultWeights), 60, () => executor.violation !== undefined)
  return executor.violation ? executor.labels() : undefined
}

/** Adds one to a register; `bad` when register `a` is 3. Some steps are faults, and `both` joins two of the others. */
interface Registers {
  readonly a: number
  readonly b: number
  readonly faults: number
}

const registers = () =>
  new Model<Registers>({ a: 0, b: 0, faults: 3 }, state => {
    const add = (
      kind: 'deliver' | 'drop' | 'overlap',
      label: string,
      change: Partial<Registers>,
    ): Transition<Registers> => {
      return { kind, node: 'n', label, next: () => ({ ...state, ...change }) }
    }
    const { a, b, faults } = state
    return [
      add('deliver', 'a', { a: a + 1 }),
      add('deliver', 'b', { b: b + 1 }),
      { ...add('overlap', 'a and b', { a: a + 1, b: b + 1 }), joins: ['a', 'b'] },
      ...(faults > 0 ? [add('drop', 'jump', { a: a + 1, faults: faults - 1 })] : []),
    ]
  })

const low = always<Registers>(({ a }) => a < 3)

describe('minimising', () => {
  it('does without faults where it can, and splits overlaps that are not needed', async () => {
    const found = ['b', 'jump', 'a and b', 'b', 'b', 'jump']
    const { schedule, minimal } = await minimiseSafety(registers(), { low }, found)
    // One addition is lost with each fault that goes, so here none can: three additions in all.
    expect(schedule).toEqual(['jump', 'a', 'jump'])
    expect(minimal).toBe(true)
  })

  it('has a divided message arrive whole where that violates too', async () => {
    const parts: Readonly<Record<string, number>> = {
      'n1→n2 #1 one | two': 2,
      'n1→n2 #2 two': 1,
      'divide n1→n2 #1 one': 1,
    }
    const system = () =>
      new Model<{ readonly got: readonly string[] }>({ got: [] }, ({ got }) => {
        const all = ['n1→n2 #1 one | two', 'divide n1→n2 #1 one']
        const enabled = got.length === 0 ? all : got[0] === all[1] && got.length === 1 ? ['n1→n2 #2 two'] : []
        return enabled.map(label => ({
          kind: label.startsWith('divide') ? ('divide' as const) : ('deliver' as const),
          node: 'n2',
          label,
          ...(label.startsWith('divide') && { whole: all[0]! }),
          next: () => ({ got: [...got, label] }),
        }))
      })
    const isLow = (needsDivided: boolean) =>
      always<{ readonly got: readonly string[] }>(
        ({ got }) => got.reduce((sum, label) => sum + parts[label]!, 0) < 2 || (needsDivided && got.length < 2),
      )
    const found = ['divide n1→n2 #1 one', 'n1→n2 #2 two']
    const whole = await minimiseSafety(system(), { low: isLow(false) }, found)
    expect(whole.schedule).toEqual(['n1→n2 #1 one | two'])
    const divided = await minimiseSafety(system(), { low: isLow(true) }, found)
    expect(divided.schedule).toEqual(found)
  })

  it('has a disk, or a system call, fail in a milder way where that violates too', async () => {
    type Strikes = { readonly struck: readonly string[] }
    const all = [
      ...[
        'disk n rots write 1',
        'disk n fails at sync 2',
        'disk n is full from write 1',
        'disk n is full from write 2',
      ],
      ...[
        'disk n takes half of write 1',
        'calls n no descriptor 2',
        'calls n short read 1',
        'calls n interrupted wait 3',
      ],
    ]
    const system = () =>
      new Model<Strikes>({ struck: [] }, ({ struck }) =>
        (struck.length < 2 ? all : []).map(label => ({
          kind: label.startsWith('disk') ? ('disk' as const) : ('calls' as const),
          node: 'n',
          label,
          next: () => ({ struck: [...struck, label] }),
        })),
      )
    const without = (pattern: RegExp) => ({
      isWell: always<Strikes>(({ struck }) => !(struck.length === 2 && struck.every(each => !pattern.test(each)))),
    })
    const found = ['disk n rots write 1', 'calls n no descriptor 2']
    const any = await minimiseSafety(system(), without(/^no such/), found)
    expect(any.schedule).toEqual(['disk n takes half of write 1', 'calls n interrupted wait 3'])
    // Where neither a part of a write nor a wait is enough, the next ones are taken.
    const others = await minimiseSafety(system(), without(/takes half|interrupted/), found)
    expect(others.schedule).toEqual(['disk n is full from write 2', 'calls n short read 1'])
  })

  it('prefers the schedule with fewer faults', async () => {
    const { schedule } = await minimiseSafety(
      registers(),
      { low },
      ['jump', 'a', 'b', 'a', 'a and b'].slice(0, 4).concat('a'),
    )
    expect(schedule).toEqual(['a', 'a', 'a'])
  })

  it('has a fault do less harm where that violates too', async () => {
    const cuts = ['cut a→b', 'cut b→a', 'partition a | b'] as const
    const system = () =>
      new Model<{ readonly cut: string; readonly lost: boolean }>({ cut: '', lost: false }, ({ cut, lost }) => [
        ...(cut === ''
          ? cuts.map(label => ({ kind: 'partition' as const, node: 'a', label, next: () => ({ cut: label, lost }) }))
          : []),
        { kind: 'timer', node: 'a', label: 'a timer', next: () => ({ cut, lost: cut !== '' && cut !== 'cut a→b' }) },
      ])
    const noneLost = always<{ readonly lost: boolean }>(({ lost }) => !lost)
    const { schedule } = await minimiseSafety(system(), { noneLost }, ['a timer', 'partition a | b', 'a timer'])
    expect(schedule).toEqual(['cut b→a', 'a timer'])
  })

  it('has a fault end sooner where that violates too', async () => {
    interface Pause {
      readonly isPaused: boolean
      readonly meanwhile: number
      readonly timers: number
    }
    const system = () =>
      new Model<Pause>({ isPaused: false, meanwhile: 0, timers: 0 }, state => {
        const { isPaused, meanwhile, timers } = state
        const fired = { ...state, timers: timers + 1, meanwhile: meanwhile + Number(isPaused) }
        return [
          { kind: 'timer', node: 'b', label: 'b timer', next: () => fired },
          isPaused
            ? { kind: 'resume', node: 'a', label: 'resume a', next: () => ({ ...state, isPaused: false }) }
            : { kind: 'pause', node: 'a', label: 'pause a', next: () => ({ ...state, isPaused: true }) },
        ]
      })
    const inTime = always<Pause>(({ isPaused, meanwhile, timers }) => isPaused || meanwhile === 0 || timers < 3)
    const found = ['b timer', 'pause a', 'b timer', 'b timer', 'b timer', 'resume a']
    const { schedule } = await minimiseSafety(system(), { inTime }, found)
    expect(schedule).toEqual(['b timer', 'pause a', 'b timer', 'resume a', 'b timer'])
  })

  it('leaves the first steps as they are, where it is told to', async () => {
    const found = ['b', 'a', 'jump', 'b', 'b', 'jump']
    const { schedule, minimal } = await minimiseSafety(registers(), { low }, found, { kept: 3 })
    expect(schedule).toEqual(['b', 'a', 'jump', 'jump'])
    expect(minimal).toBe(true)
  })

  it('keeps the best when its budget is spent', async () => {
    const found = (await firstViolation(twoPhaseCommit(3, { impatient: true }), { consistent }))!
    const { schedule, executions, minimal } = await minimiseSafety(
      twoPhaseCommit(3, { impatient: true }),
      { consistent },
      found,
      { executions: 3 },
    )
    expect(executions).toBe(3)
    expect(minimal).toBe(false)
    expect(schedule.length).toBeLessThanOrEqual(found.length)
  })

  it('comes to a schedule that violates, of which no single step can be dropped, and always to the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async seed => {
        const system = twoPhaseCommit(3, { impatient: true })
        const found = await firstViolation(system, { consistent }, seed)
        const { schedule, minimal } = await minimiseSafety(system, { consistent }, found)
        expect(minimal).toBe(true)
        expect(schedule).toEqual((await minimiseSafety(system, { consistent }, found)).schedule)
        expect((await replay(system, { consistent }, schedule)).violation?.step).toBe(schedule.length)
        const executor = new Executor(system, { consistent })
        for (const i of schedule.keys()) {
          await executor.reset()
          await attempt(executor, schedule.toSpliced(i, 1))
          expect(executor.violation).toBeUndefined()
        }
      }),
      { numRuns: 30 },
    )
  })
})

/** Two that talk and one that ticks: which is needed for what is bad depends on the test. */
interface Talk {
  /** Conversations that are under way, by who began them: how far each is. */
  readonly open: Readonly<Record<string, { readonly number: number; readonly isAnswering: boolean }>>
  /** Of each, what came to its end. */
  readonly ended: readonly string[]
  readonly noises: number
  readonly ticks: number
  readonly isArmed: boolean
  readonly isLoaded: boolean
  readonly isFired: boolean
}

const silence: Talk = {
  open: {},
  ended: [],
  noises: 0,
  ticks: 0,
  isArmed: false,
  isLoaded: false,
  isFired: false,
}

/** `a` and `c` ask `b`, which answers; `d` ticks; `a` can fire while nobody talks and the ticks are even. */
const talk = () =>
  new Model<Talk>(silence, state => {
    const to = (kind: 'timer' | 'deliver', node: string, label: string, change: Partial<Talk>): Transition<Talk> => {
      return { kind, node, label, next: () => ({ ...state, ...change }) }
    }
    const { open, ended, noises, ticks, isArmed, isLoaded, isFired } = state
    const conversations = ['a', 'c'].flatMap(who => {
      const { [who]: talking, ...others } = open
      // Noise is counted with what is said: where it is left out, later messages count lower.
      const begun = { number: noises + 1, isAnswering: false }
      if (!talking)
        return ended.includes(who) ? [] : [to('timer', who, `${who} begins`, { open: { ...open, [who]: begun } })]
      const { number, isAnswering } = talking
      return isAnswering
        ? [to('deliver', who, `b→${who} #${number} answer`, { open: others, ended: [...ended, who] })]
        : [to('deliver', 'b', `${who}→b #${number} ask`, { open: { ...open, [who]: { number, isAnswering: true } } })]
    })
    return [
      ...conversations,
      to('timer', 'a', 'a makes noise', { noises: noises + 1 }),
      to('timer', 'd', 'd ticks', { ticks: ticks + 1 }),
      ...(isArmed ? [] : [to('timer', 'a', 'a arms', { isArmed: true })]),
      ...(isArmed && !isLoaded ? [to('timer', 'a', 'a loads', { isLoaded: true })] : []),
      ...(isLoaded && !isFired && ticks % 2 === 0 && Object.keys(open).length === 0
        ? [to('timer', 'a', 'a fires', { isFired: true })]
        : []),
    ]
  })

const neverFires = always<Talk>(({ isFired }) => !isFired)
const neverBothEnd = always<Talk>(({ ended }) => ended.length < 2)

describe('what a person would not keep goes', () => {
  it('a conversation of which no single step and no adjacent steps could be dropped alone', async () => {
    const found = ['c begins', 'a arms', 'c→b #1 ask', 'a loads', 'b→c #1 answer', 'a fires']
    const { schedule, minimal } = await minimiseSafety(talk(), { neverFires }, found)
    expect(schedule).toEqual(['a arms', 'a loads', 'a fires'])
    expect(minimal).toBe(true)
  })

  it('timers of one node of which none could be dropped alone', async () => {
    const found = ['d ticks', 'a arms', 'd ticks', 'a loads', 'd ticks', 'd ticks', 'a fires']
    const { schedule } = await minimiseSafety(talk(), { neverFires }, found)
    expect(schedule).toEqual(['a arms', 'a loads', 'a fires'])
  })

  it('what shifts the numbers of messages, which are then matched by their text', async () => {
    const found = [
      ...['a makes noise', 'a makes noise', 'a makes noise', 'a begins', 'a→b #4 ask', 'b→a #4 answer'],
      ...['a makes noise', 'c begins', 'c→b #5 ask', 'b→c #5 answer'],
    ]
    const { schedule } = await minimiseSafety(talk(), { neverBothEnd }, found)
    expect(schedule).toEqual([
      ...['a begins', 'a→b #1 ask', 'b→a #1 answer'],
      ...['c begins', 'c→b #1 ask', 'b→c #1 answer'],
    ])
  })

  it('the disorder: what is delivered stands behind what sent it', async () => {
    const found = ['c begins', 'a begins', 'a→b #1 ask', 'c→b #1 ask', 'b→a #1 answer', 'b→c #1 answer']
    const { schedule } = await minimiseSafety(talk(), { neverBothEnd }, found)
    expect(schedule).toEqual([
      ...['c begins', 'c→b #1 ask', 'b→c #1 answer'],
      ...['a begins', 'a→b #1 ask', 'b→a #1 answer'],
    ])
  })
})

/** What happened, in order. `c` begins only while `a` has no answer; asking after `a` is bad. */
const askers = () =>
  new Model<readonly string[]>([], done => {
    const step = (kind: 'timer' | 'deliver', node: string, label: string, isEnabled: boolean) =>
      isEnabled && !done.includes(label) ? [{ kind, node, label, next: () => [...done, label] }] : []
    return [
      ...step('timer', 'a', 'a begins', true),
      ...step('deliver', 'b', 'a→b #1 ask', done.includes('a begins')),
      ...step('deliver', 'a', 'b→a #1 answer', done.includes('a→b #1 ask')),
      ...step('timer', 'c', 'c begins', !done.includes('b→a #1 answer')),
      ...step('deliver', 'b', 'c→b #1 ask', done.includes('c begins')),
    ]
  })

const neverAfterA = always<readonly string[]>(done => done.at(-1) !== 'c→b #1 ask' || !done.includes('a→b #1 ask'))

it('what stands behind what sent it only once a step between is gone is moved there too', async () => {
  const found = ['a begins', 'c begins', 'a→b #1 ask', 'b→a #1 answer', 'c→b #1 ask']
  const { schedule, minimal } = await minimiseSafety(askers(), { neverAfterA }, found)
  expect(schedule).toEqual(['a begins', 'a→b #1 ask', 'c begins', 'c→b #1 ask'])
  expect(minimal).toBe(true)
})

const firstViolation = async <State>(system: System<State>, properties: Properties<State>, from = 1) => {
  for (let seed = from; ; seed++) {
    const found = await violatingWalk(system, properties, seed)
    if (found) return found
  }
}

describe('executions that minimising takes', () => {
  it('are not executed if they equal another candidate because the steps between were not enabled', async () => {
    // Each conversation is tried, and its message and answer; its begin alone is not, for without it nothing of it is enabled.
    const found = ['a begins', 'a→b #1 ask', 'b→a #1 answer', 'c begins', 'c→b #1 ask', 'b→c #1 answer']
    const { executions, minimal } = await minimiseSafety(talk(), { neverBothEnd }, found)
    expect([executions, minimal]).toEqual([12, true])
  })
})
