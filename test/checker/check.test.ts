import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Properties } from '../../checker/cells/executor.ts'
import { replay } from '../../checker/cells/replay.ts'
import { check, type Progress, type SystemCheckOptions } from '../../checker/check.ts'
import type { Level } from '../../checker/searches/bounded.ts'
import { Undecided, Unfaithful } from '../../checker/system/errors.ts'
import { always, eventually } from '../../checker/system/property.ts'
import type { System } from '../../checker/system/system.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import { type Counter, counter, nothingLost } from './systems/counter.ts'
import { deadStates, distances, type Graph, graphs, isDead, modelOf, propertiesOf } from './systems/graph.ts'
import { choiceOf, Model, type Transition } from './systems/model.ts'
import { comesHome, type Ring, ring } from './systems/ring.ts'
import { type Commit, consistent, decided, twoPhaseCommit } from './systems/two-phase-commit.ts'

const table = (levels: readonly Level[]) =>
  levels.map(({ depth, executions, states, pruned }) => [depth, executions, states, pruned])

const bounded: SystemCheckOptions<never> = { search: 'bounded', executions: 100_000 }

describe('a check of all schedules', () => {
  it('finds the lost addition of a counter race, by a shortest schedule', async () => {
    const verdict = await check(counter(2), { nothingLost }, { ...bounded, seed: 5 })
    expect(verdict).toMatchObject({
      verdict: 'violated',
      property: 'nothingLost',
      kind: 'safety',
      repeated: true,
      criticalTransition: null,
      seed: 5,
    })
    expect(verdict.schedule.slice(0, 2).toSorted()).toEqual(['p1 read', 'p2 read'])
    expect(verdict.schedule).toHaveLength(4)
  })

  it('ends with a violation that is left to be examined, in the execution in which an examined one is found', async () => {
    const { discovery } = await check(counter(2), { nothingLost }, { ...bounded, seed: 5 })
    const left = await check(counter(2), { nothingLost }, { ...bounded, seed: 5, leavesExamination: true })
    expect(left).toMatchObject({
      ...{ verdict: 'undetermined', property: 'nothingLost', kind: 'safety', repeated: false },
      executions: discovery!.execution,
      discovery: { execution: discovery!.execution },
    })
    const { executions } = left
    const again = await check(counter(2), { nothingLost }, { search: 'bounded', seed: 5, executions })
    expect(again).toMatchObject({ verdict: 'violated', repeated: true, schedule: left.schedule })
  })

  it('goes through the 288 states of two-phase commit, each once, and sees every one decide', async () => {
    const { verdict, states, coverage, message } = await check(twoPhaseCommit(3), { consistent, decided }, bounded)
    expect(verdict).toBe('held')
    expect(states).toBe(288)
    expect(coverage.exhausted).toBe(true)
    expect(coverage.levels.reduce((sum, level) => sum + level.states, 1)).toBe(288)
    expect(message).toMatch(/^no violation in \d+ executions .*; among them every schedule to its end$/)
  })

  it('counts executions, states and what it pruned at each depth', async () => {
    const { coverage } = await check(ring(), {}, bounded)
    expect(table(coverage.levels)).toEqual([
      [1, 1, 1, 0],
      [2, 1, 1, 0],
      [3, 2, 2, 0],
      [4, 2, 1, 1],
      [5, 1, 1, 0],
      [6, 1, 0, 1],
    ])
    expect(coverage).toMatchObject({ pruned: 2, exhausted: true })
  })

  it('leaves out executions that do not count, and says so', async () => {
    const system = counter(2)
    const execute = system.execute.bind(system)
    let steps = 0
    system.execute = async choice => {
      if (++steps % 10 === 0) throw new Unfaithful(steps, choice.label, 'gaps: 1')
      return execute(choice)
    }
    const verdict = await check(system, {}, bounded)
    const undisturbed = await check(counter(2), {}, bounded)
    expect(verdict.states).toBe(undisturbed.states)
    expect(table(verdict.coverage.levels)).toEqual(table(undisturbed.coverage.levels))
    expect(verdict.coverage.unfaithful).toBeGreaterThan(0)
    expect(verdict.message).toContain(`${verdict.coverage.unfaithful} do not count: gaps: 1`)
    expect(verdict.notRepeated).toEqual([])
  })

  it('prunes nothing where states have no fingerprints', async () => {
    const { coverage, depth, states } = await check(ring({ fingerprints: false }), {}, { ...bounded, depth: 8 })
    // One schedule stays on the ring; from it one falls at step 3 and one at step 7.
    expect(table(coverage.levels).map(([, executions]) => executions)).toEqual([1, 1, 2, 2, 2, 2, 3, 3])
    expect(coverage).toMatchObject({ pruned: 0, exhausted: false })
    expect({ depth, states }).toEqual({ depth: 8, states: 0 })
  })

  it('a check of all schedules ends at its depth', async () => {
    const { verdict, coverage, depth } = await check(counter(3), {}, { ...bounded, depth: 2 })
    expect(table(coverage.levels)).toEqual([
      [1, 3, 3, 0],
      [2, 9, 6, 3],
    ])
    expect(coverage.exhausted).toBe(false)
    expect({ verdict, depth }).toEqual({ verdict: 'held', depth: 2 })
  })
})

describe('a check for death', () => {
  it('counts the walks that came to a live state by how far it was', async () => {
    const { verdict, coverage } = await check(twoPhaseCommit(3), { decided }, { search: 'walk', executions: 20 })
    const { completed, walksToLive, stepsToLive } = coverage
    expect(verdict).toBe('held')
    expect(walksToLive.reduce((sum, count) => sum + count, 0)).toBe(completed)
    expect(walksToLive.length).toBe(stepsToLive.toString(2).length + 1)
  })

  it.each(['auto', 'walk', 'bounded'] as const)('names the fall into the pit (%s)', async search => {
    const verdict = await check(ring(), { comesHome }, { search, executions: 50 })
    expect(verdict).toMatchObject({
      verdict: 'violated',
      property: 'comesHome',
      kind: 'liveness',
      schedule: ['move', 'move', 'fall'],
      criticalTransition: { step: 3, label: 'fall', case: 'C1', walks: 60 },
      repeated: true,
    })
    expect(verdict.closestLive!.slice(0, 3)).toEqual(['move', 'move', 'move'])
    expect(verdict.message).toMatch(
      /^comesHome can never hold again after step 3 \(fall\): it did not recover in 60 walks of up to \d+ steps, /,
    )
  })

  it('does not tell where walks are too short for it, and says so', async () => {
    const farAway = eventually<Ring>(({ place }) => place === 299)
    const options = { executions: 5, walkLength: 10 }
    expect(await check(ring({ size: 300, pit: 0 }), { farAway }, options)).toMatchObject({
      verdict: 'undetermined',
      property: 'farAway',
      criticalTransition: { step: 0, label: '(initial state)', case: 'C2', walkLength: 80 },
      message:
        'farAway did not come to hold, and walks of up to 80 steps are too short to tell whether it ever can (case C2)',
    })
  })

  it.each([
    { size: 300, transient: 0, where: 'as long as the first one shows that they have to be' },
    { size: 7_500, transient: 1, where: 'as long as a suspect needed, where the first one shows nothing' },
  ])('makes walks $where', async ({ size, transient }) => {
    const farAway = eventually<Ring>(({ place }) => place === size - 1)
    const { verdict, coverage } = await check(ring({ size, pit: 0 }), { farAway }, { executions: 5 })
    expect(verdict).toBe('held')
    expect(coverage.transient).toBe(transient)
  })

  it('does not call dead what the configured fault repairs', async () => {
    // A door that a crash opens. No walk waits for it.
    const door = new Model<string>('open', state => [
      { kind: 'timer', node: 'n', label: 'turn', next: () => (state === 'open' ? 'shut' : state) },
      { kind: 'crash', node: 'n', label: 'crash n', next: () => 'open' },
    ])
    const passable = eventually<string>(state => state === 'open')
    const { verdict, schedule, criticalTransition } = await check(door, { passable }, { executions: 30 })
    expect(verdict).toBe('undetermined')
    expect(criticalTransition).toMatchObject({ step: 1, label: 'turn', case: 'C2' })
    // All of the execution that did not come to hold.
    expect(new Set(schedule)).toEqual(new Set(['turn']))
    expect(schedule.length).toBeGreaterThan(1)
  })
})

/** Three hits in a row, and something happens to `n`. */
const fragile = (kind: 'crash' | 'divergence') =>
  new Model<number>(0, hits => {
    const hit: Transition<number> = { kind: 'deliver', node: 'n', label: 'hit', next: () => hits + 1 }
    const rest: Transition<number> = { kind: 'timer', node: 'n', label: 'rest', next: () => 0 }
    const findings = [{ kind, node: 'n', message: 'its last words' }]
    return [hits === 2 ? { ...hit, findings } : hit, rest]
  })

describe('a check of a system with findings', () => {
  it.each(['crash', 'divergence'] as const)('reports a %s by its shortest schedule', async kind => {
    expect(await check(fragile(kind), {}, { executions: 200 })).toMatchObject({
      verdict: 'violated',
      property: null,
      kind,
      schedule: ['hit', 'hit', 'hit'],
      message: `${kind} of n after step 3 (hit): its last words`,
      repeated: true,
    })
  })

  it('treats them as the end of an execution if they are allowed', async () => {
    const lucky = eventually<number>(hits => hits === 0)
    const { verdict } = await check(fragile('crash'), { lucky }, { executions: 100, allowFindings: true })
    expect(verdict).toBe('held')
  })
})

/** A system that does as it likes: whether `bad` follows depends on how often it was reset. */
const unsteady = () => {
  const model: Model<string> = new Model<string>('start', state => {
    const next = () => (model.resets === 3 ? 'bad' : 'good')
    return state === 'start' ? [{ kind: 'timer', node: 'n', label: 'go', next }] : []
  })
  return model
}

describe('a check of a system that does not repeat', () => {
  it('does not report a violation that did not repeat, and says what it was', async () => {
    const notBad = always<string>(state => state !== 'bad')
    const { verdict, message, notRepeated } = await check(unsteady(), { notBad }, { executions: 6 })
    expect(verdict).toBe('undetermined')
    const line = 'notBad does not hold after step 1 (go); executed again, it did not violate it'
    expect(notRepeated).toEqual([line])
    expect(message).toBe(`what was found does not repeat: ${line}`)
  })
})

/** Every word of `a` and `b`; once, after so many resets, there is something else to choose at the end of one. */
const nearlySteady = (odd: number) => {
  const model: Model<string> = new Model<string>('', state => {
    const letters = model.resets === odd && state.length === 9 ? ['a', 'b', 'c'] : ['a', 'b']
    return state.length === 10
      ? []
      : letters.map(label => ({ kind: 'timer', node: 'n', label, next: () => state + label }))
  })
  return model
}

describe('a check of a system that nearly always repeats', () => {
  const short = { short: always<string>(state => state.length <= 10) }

  it('is held, and says what did not repeat and was not searched beyond', async () => {
    const { verdict, coverage, message, notRepeated } = await check(nearlySteady(700), short, { search: 'bounded' })
    expect(verdict).toBe('held')
    expect(coverage.givenUp).toBe(1)
    expect(notRepeated).toEqual(
      Array(2).fill(expect.stringMatching(/^a schedule that had been executed before diverged at step 10/)),
    )
    expect(message).toMatch(/; 1 did not repeat, and what comes after them was not searched$/)
  })

  it('says nothing of it where that is more than one in a thousand', async () => {
    const { verdict, message } = await check(nearlySteady(700), short, { search: 'bounded', executions: 1450 })
    expect(verdict).toBe('undetermined')
    expect(message).toMatch(/^what was found does not repeat: a schedule/)
  })
})

/** Whether anything can happen. Nothing executed is never `held`. */
const hasWays = ({ ways: [first] }: Graph) => first!.length > 0

describe('a check of any small system', () => {
  it('never accuses one that recovers from everywhere, however the search goes', async () => {
    await fc.assert(
      fc.asyncProperty(graphs(6), fc.constantFrom('auto', 'walk', 'bounded'), fc.nat(), async (graph, search, seed) => {
        fc.pre(deadStates(graph).length === 0)
        const { alive } = propertiesOf(graph)
        const { verdict } = await check(modelOf(graph), { alive }, { search, seed, executions: 20 })
        expect(verdict).toBe(hasWays(graph) ? 'held' : 'undetermined')
      }),
      { numRuns: 100 },
    )
  })

  it('never accuses one that recovers from everywhere, though it begins live and walks are short', async () => {
    await fc.assert(
      fc.asyncProperty(graphs(4), fc.nat(), async ({ ways, bad }, seed) => {
        const graph = { ways, bad, live: [0] }
        fc.pre(deadStates(graph).length === 0)
        const { alive } = propertiesOf(graph)
        const { verdict } = await check(modelOf(graph), { alive }, { seed, executions: 20, walkLength: 8 })
        expect(verdict).not.toBe('violated')
      }),
      { numRuns: 100 },
    )
  })

  it('names only a step into a dead state from one that recovers', async () => {
    await fc.assert(
      fc.asyncProperty(graphs(6), fc.nat(), async (graph, seed) => {
        fc.pre(deadStates(graph).length > 0)
        const { alive } = propertiesOf(graph)
        const { verdict, schedule } = await check(modelOf(graph), { alive }, { seed, ...bounded })
        expect(verdict).not.toBe('held')
        if (verdict !== 'violated') return
        const states = [0, ...schedule.map(label => Number(label.slice(3)))]
        expect(isDead(graph, states.at(-1)!)).toBe(true)
        if (schedule.length > 0) expect(isDead(graph, states.at(-2)!)).toBe(false)
      }),
      { numRuns: 40 },
    )
  })

  it('finds every violation of safety within the depth of a bounded search, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(graphs(6), fc.boolean(), fc.integer({ min: 1, max: 6 }), async (graph, fingerprints, depth) => {
        const { good } = propertiesOf(graph)
        const system = modelOf(graph, { fingerprints })
        const distance = distances(graph).get(graph.bad)
        const { verdict, schedule } = await check(system, { good }, { ...bounded, depth, seed: 7 })
        if (distance === undefined) expect(verdict).toBe(hasWays(graph) ? 'held' : 'undetermined')
        else if (distance <= depth) expect(verdict).toBe('violated')
        if (verdict !== 'violated') return
        const { violation } = await replay(system, { good }, schedule)
        expect(violation?.step).toBe(schedule.length)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a check within limits', () => {
  it('a verdict says what the check covered', async () => {
    const verdict = await check(twoPhaseCommit(3), { consistent }, { executions: 7 })
    expect(verdict).toMatchObject({ verdict: 'held', executions: 7, depth: 0, schedule: [] })
    expect(verdict.message).toBe(
      `no violation in 7 executions with ${verdict.steps} steps and ${verdict.states} states`,
    )
  })

  it('says nothing when it is interrupted before the first execution is done', async () => {
    const { verdict, message } = await check(counter(2), {}, { signal: AbortSignal.abort() })
    expect(verdict).toBe('undetermined')
    expect(message).toBe('the budget was spent before one execution was done')
  })

  it('keeps a violation when it is interrupted while that is shrunk', async () => {
    const controller = new AbortController()
    const found = await check(
      twoPhaseCommit(3, { impatient: true }),
      { consistent },
      {
        signal: controller.signal,
        onProgress: ({ phase }) => phase === 'shrinking' && controller.abort(),
      },
    )
    expect(found).toMatchObject({ verdict: 'violated', property: 'consistent', repeated: true })
  })

  it('reports the share of live executions, and what it has found', async () => {
    const told: Progress[] = []
    const onProgress = (progress: Progress) => void told.push(progress)
    await check(twoPhaseCommit(3, { impatient: true }), { consistent, decided }, { executions: 500, onProgress })
    const last = told.at(-1)!
    expect(last.liveShare).toBeGreaterThan(0)
    expect(last.finding).toMatch(/^consistent does not hold after step \d+/)
    expect(told[0]!.finding).toBeUndefined()
  })

  it('gives the same verdict with a budget of executions however slow the machine is', async () => {
    const options = { seed: 11, executions: 500 }
    const once = async (properties: Properties<Commit>) => {
      const { verdict, schedule, executions } = await check(twoPhaseCommit(3, { impatient: true }), properties, options)
      return { verdict, schedule, executions }
    }
    const [unsafe, dead] = [await once({ consistent }), await once({ decided })]
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 60_000))
    onTestFinished(() => clock.mockRestore())
    expect(await once({ consistent })).toEqual(unsafe)
    expect(await once({ decided })).toEqual(dead)
    expect(unsafe.verdict).toBe('violated')
  })

  it('shrinks for so many steps with a budget of executions', async () => {
    const someLeft = always<Counter>(({ read }) => read.some(seen => seen !== 'done'))
    const { verdict, schedule, steps } = await check(counter(150), { someLeft }, { executions: 1, walkLength: 300 })
    expect([verdict, schedule.length]).toEqual(['violated', 300])
    // Found, repeated and looked at once more; each of the 300 steps is needed, and to know it takes 300 × 300.
    expect(steps).toBeGreaterThan(20_000)
    expect(steps).toBeLessThan(32_000)
  })

  it('gives the same verdict for the same seed', async () => {
    const once = () => check(twoPhaseCommit(3, { impatient: true }), { consistent }, { seed: 11, executions: 500 })
    const timeless = ({ seconds: _, stepsPerSecond: __, discovery, ...verdict }: Verdict) => ({
      ...verdict,
      discovery: { ...discovery, seconds: 0 },
    })
    const first = timeless(await once())
    expect(first.discovery).toMatchObject({ execution: expect.any(Number), steps: expect.any(Number) })
    expect(timeless(await once())).toEqual(first)
  })

  it('begins each execution as it is told to', async () => {
    const begins = new Set<string>()
    const from = ['r2 prepares', 'r2→tm #1 prepared']
    let steps: string[] = []
    const observer = {
      onStep: ({ choice }: { choice: { label: string } }) => void steps.push(choice.label),
      onEnd: () => {
        begins.add(steps.slice(0, 2).join(', '))
        steps = []
      },
    }
    await check(twoPhaseCommit(3), { consistent }, { from, observer, executions: 30 })
    expect([...begins]).toEqual([from.join(', ')])
    await expect(check(ring(), { comesHome }, { from: ['fall'] })).rejects.toMatchObject({ name: 'Diverged', step: 1 })
  })

  it('shrinks what it finds behind a long way without the way itself', async () => {
    const from = Array.from({ length: 2000 }, (_, index) => (index % 2 === 0 ? 'up' : 'down'))
    interface Switched {
      readonly isUp: boolean
      readonly waits: number
    }
    const switched = new Model<Switched>({ isUp: false, waits: 0 }, ({ isUp, waits }) => {
      const step = (label: string, next: Switched) => ({ kind: 'deliver' as const, node: 'n', label, next: () => next })
      const turn = step(isUp ? 'down' : 'up', { isUp: !isUp, waits })
      return waits < 3 ? [turn, step('wait', { isUp, waits: waits + 1 })] : [turn]
    })
    const neverUpAfterWaits = always<Switched>(({ isUp, waits }) => !(isUp && waits > 0))
    const verdict = await check(switched, { neverUpAfterWaits }, { from, executions: 100, seed: 3 })
    expect(verdict).toMatchObject({ verdict: 'violated', repeated: true, delayMs: 0, skewMs: null })
    expect(verdict.schedule.slice(0, 2000)).toEqual(from)
    expect(verdict.schedule.slice(2000).toSorted()).toEqual(['up', 'wait'])
    // A search with shorter ways to begin with drops them.
    const short = await check(switched, { neverUpAfterWaits }, { from: from.slice(0, 100), executions: 100, seed: 3 })
    expect(short.schedule.toSorted()).toEqual(['up', 'wait'])
  })

  it('skips steps to begin with that are not enabled any more, and says so', async () => {
    const from = ['r2 prepares', 'r2 sleeps', 'r2→tm #1 prepared', 'r9→tm #1 prepared']
    const { verdict, notes } = await check(twoPhaseCommit(3), { consistent }, { from, executions: 30 })
    expect(verdict).toBe('held')
    expect(notes).toContain(
      'the steps to begin with are not all enabled any more, from step 2 ("r2 sleeps") on: 2 of 4 were skipped',
    )
  })

  it('checks one property alone', async () => {
    const system = twoPhaseCommit(2, { impatient: true })
    const options = { property: 'decided', executions: 60 }
    expect(await check(system, { consistent, decided }, options)).toMatchObject({ verdict: 'held' })
  })
})

describe('a wrong check', () => {
  it.each([
    [{ search: 'deep' as 'auto' }, 'no search "deep": known are auto, bounded, walk, local, consequence, deviations'],
    [{ executions: 0 }, 'executions: expected a whole number above zero, found 0'],
    [{ depth: 1.5 }, 'depth: expected a whole number above zero, found 1.5'],
    [{ property: 'nothing' }, 'no property "nothing": did you mean "nothingLost"?'],
  ])('is refused: %o', async (options, message) => {
    await expect(check(counter(2), { nothingLost }, options)).rejects.toMatchObject({ name: 'UsageError', message })
  })

  it('is refused where a property throws', async () => {
    const broken = always<Ring>(() => {
      throw new Error('no such field')
    })
    await expect(check(ring(), { broken })).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(
        /^properties\.broken threw in the initial state: Error: no such field \(test\/checker\/check\.test\.ts:\d+\); the state was \{.*\}$/,
      ),
    })
  })

  it.each([
    [() => Number.NaN, 'found NaN'],
    [async () => Promise.reject(new Error('late')), 'found a promise: it may not be async'],
  ])('is refused where a property gives neither true nor false, but %s', async (holds, found) => {
    const odd = always<Ring>(holds as never)
    await expect(check(ring(), { odd })).rejects.toThrow(
      `properties.odd, evaluated in the initial state: expected true or false, ${found}; the state was {`,
    )
  })
})

describe('a property that cannot be decided', () => {
  /** In states after which the counter is so high. */
  const undecidedFrom = (count: number) =>
    always<Counter>(state => {
      if (
        JSON.stringify(state)
          .match(/\d+/g)!
          .some(number => Number(number) >= count)
      )
        throw new Undecided('too much')
      return true
    })

  it('makes a verdict undetermined if too much was undecided, and is counted', async () => {
    const verdict = await check(counter(2), { hard: undecidedFrom(1) }, { executions: 20 })
    expect(verdict).toMatchObject({
      verdict: 'undetermined',
      message: expect.stringMatching(
        /^in \d+ of 20 executions hard could not be decided after step \d+ \(.*\): too much$/,
      ),
      notes: [verdict.message],
    })
  })

  it('does not change a verdict if it is decided everywhere', async () => {
    expect(await check(counter(2), { hard: undecidedFrom(99) }, { executions: 20 })).toMatchObject({
      verdict: 'held',
      notes: [],
    })
  })

  it('does not hide a violation of another property', async () => {
    const properties = { hard: undecidedFrom(0), wrong: always<Counter>(() => false) }
    expect(await check(counter(2), properties, { executions: 20 })).toMatchObject({
      verdict: 'violated',
      property: 'wrong',
    })
  })
})

describe('a check of nodes that draw by chance', () => {
  /** Three steps; the nodes drew `variant` at their start. */
  const dice = () => {
    const resets: number[] = []
    let state = { drawn: 0, steps: 0 }
    const system: System<typeof state> = {
      reset: async (variant = 0) => {
        resets.push(variant)
        state = { drawn: variant, steps: 0 }
        return []
      },
      enabled: () => (state.steps < 3 ? [choiceOf({ kind: 'timer', node: 'n', label: 'n timer' })] : []),
      execute: async choice => {
        state = { ...state, steps: state.steps + 1 }
        return { choice, findings: [] }
      },
      state: () => state,
      fingerprint: () => JSON.stringify(state),
    }
    return { system, resets }
  }
  const neverTwo = always(({ drawn, steps }: { drawn: number; steps: number }) => drawn !== 2 || steps < 2)

  it('finds what needs other numbers than the first, and repeats it with these', async () => {
    const { system, resets } = dice()
    const verdict = await check(system, { neverTwo }, { search: 'walk', executions: 100 })
    expect(verdict).toMatchObject({ verdict: 'violated', repeated: true, variant: 2, schedule: ['n timer', 'n timer'] })
    const firstOfTwo = resets.indexOf(2)
    expect(new Set(resets.slice(0, firstOfTwo))).toEqual(new Set([0, 1]))
    expect(new Set(resets.slice(firstOfTwo))).toEqual(new Set([2]))
    const again = await replay(system, { neverTwo }, verdict.schedule, { variant: verdict.variant })
    expect(again.violation).toMatchObject({ property: 'neverTwo', step: 2 })
  })

  it('keeps to the first numbers in the bounded search', async () => {
    const { system, resets } = dice()
    expect(await check(system, { neverTwo }, bounded)).toMatchObject({ verdict: 'held', variant: 0 })
    expect(new Set(resets)).toEqual(new Set([0]))
  })
})
