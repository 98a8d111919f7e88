import { expect, test } from 'vitest'
import { OwnCell } from '../../../checker/cells/cell.ts'
import { Cells } from '../../../checker/cells/cells.ts'
import { replay } from '../../../checker/cells/replay.ts'
import { check, checkInCells } from '../../../checker/check.ts'
import { always, eventually } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import { differenceFrom, differenceFromDeath } from '../../../checker/verdict/confirm.ts'
import { type Counter, counter, nothingLost } from '../systems/counter.ts'
import { Model, type Transition } from '../systems/model.ts'
import { processes } from '../systems/processes.ts'

const lost = ['p1 read', 'p2 read', 'p1 write', 'p2 write']
const claim = { kind: 'safety', property: 'nothingLost', schedule: lost } as const

test('a violation is confirmed by the same one at the same step, and by nothing else', async () => {
  const came = await replay(counter(2), { nothingLost }, lost)
  expect(differenceFrom(claim, came)).toBeUndefined()
  expect(differenceFrom({ ...claim, kind: 'crash', property: null }, came)).toMatch(
    /^came to another violation: nothing/,
  )
  expect(differenceFrom({ ...claim, property: 'other' }, came)).toMatch(/^came to another violation: nothingLost does/)
  expect(differenceFrom({ ...claim, schedule: [...lost, 'more'] }, came)).toBe('violated it after step 4 of 5 already')
  const early = always<Counter>(({ read }) => read.every(seen => seen === null))
  const earlier = await replay(counter(2), { early, nothingLost }, lost)
  expect(differenceFrom(claim, earlier)).toMatch(/^came to another violation: early does not hold after step 1/)
  const fine = ['p1 read', 'p1 write', 'p2 read', 'p2 write']
  const held = await replay(counter(2), { nothingLost }, fine)
  expect(differenceFrom({ ...claim, schedule: fine }, held)).toBe('did not violate it')
  const diverged = await replay(counter(1), { nothingLost }, lost)
  expect(differenceFrom(claim, diverged)).toMatch(/^diverged at step 2: expected "p2 read"/)
})

type Place = 'away' | 'home' | 'dead'

/** Comes home, unless it is killed. */
const traveller = () =>
  new Model<Place>('away', place => {
    const rest: Transition<Place> = { kind: 'timer', node: 'n', label: 'rest', next: () => place }
    const go: Transition<Place> = { kind: 'timer', node: 'n', label: 'go', next: () => 'home' }
    const kill: Transition<Place> = { kind: 'crash', node: 'n', label: 'kill', next: () => 'dead' }
    return place === 'away' ? [rest, go, kill] : [rest]
  })

test('a death is confirmed if no walk recovers after it, and one does after the step before', async () => {
  const cell = new OwnCell(traveller(), { comesHome: eventually<Place>(place => place === 'home') })
  const difference = (schedule: readonly string[]) =>
    differenceFromDeath(Cells.of([cell]), schedule, {
      ...{ property: 'comesHome', walks: 6, walkLength: 20, random: new Random(1) },
    })
  expect(await difference(['rest', 'kill'])).toBeUndefined()
  expect(await difference(['rest'])).toMatch(/^recovered in \d+ steps$/)
  expect(await difference(['kill', 'rest'])).toBe('recovered in none of 6 walks from the step before either')
})

/** Its traveller seems dead only in executions for which something of an earlier one is left. */
class Haunted extends Model<Place> {
  #isAnew = true
  #isNextAnew = false

  constructor(death: 'timer' | 'crash') {
    const to = (kind: 'timer' | 'crash', label: string, place: Place) => ({ kind, node: 'n', label, next: () => place })
    const go = to('timer', 'go', 'home')
    super('away', place => {
      if (death === 'timer' && place === 'away') return [to('timer', 'fall', 'dead')]
      if (place === 'dead') return this.#isAnew ? [go] : death === 'timer' ? [] : [to('timer', 'rest', place)]
      return [to('timer', 'rest', place), go, ...(place === 'away' ? [to('crash', 'kill', 'dead')] : [])]
    })
  }

  readonly processes = processes({
    endLives: () => {
      this.#isNextAnew = true
    },
  })

  override reset() {
    this.#isAnew = this.#isNextAnew
    this.#isNextAnew = false
    return super.reset()
  }
}

test.each(['crash', 'timer'] as const)(
  'a death by a %s that new processes do not share is not reported',
  async death => {
    const comesHome = eventually<Place>(place => place === 'home')
    const { verdict } = await check(new Haunted(death), { comesHome }, { executions: 200 })
    expect(verdict).not.toBe('violated')
  },
)

/** Counts up to 3; from its fourth start on it has another name for its second step. */
class Fickle extends Model<number> {
  constructor() {
    super(0, count => [{ kind: 'timer', node: 'n', label: `up ${'abc'[count]}`, next: () => count + 1 }])
  }

  override transitions() {
    return super
      .transitions()
      .map(choice => (this.resets > 3 && choice.label === 'up b' ? { ...choice, label: 'up x' } : choice))
  }
}

test('a schedule that diverges while it is shrunk is reported as it was found, twice the same', async () => {
  const small = always<number>(count => count < 3)
  expect(await check(new Fickle(), { small }, { search: 'walk', executions: 4 })).toMatchObject({
    verdict: 'violated',
    property: 'small',
    repeated: true,
    schedule: ['up a', 'up b', 'up c'],
    notRepeated: [expect.stringMatching(/^a shorter schedule of small diverged at step 2: expected "up b"/)],
  })
})

/** Its second step has another name in every fourth execution: always, or as long as it is rewound. */
class Unsteady extends Model<number> {
  isRewound = true
  readonly #isForEver: boolean
  #isAnew = false

  constructor(isForEver: boolean) {
    super(0, count =>
      count === 12
        ? []
        : ['a', 'b'].map(name => ({ kind: 'timer', node: name, label: `${name} ${count}`, next: () => count + 1 })),
    )
    this.#isForEver = isForEver
  }

  readonly processes = processes({
    stopRewinding: () => {
      const wasRewound = !this.#isAnew
      this.#isAnew = true
      this.isRewound = this.#isForEver
      return wasRewound
    },
  })

  override transitions() {
    const isOdd = this.isRewound && this.resets % 4 === 1
    return super
      .transitions()
      .map(choice => (isOdd ? { ...choice, label: choice.label.replace(' 1', ' one') } : choice))
  }
}

const fine = { fine: always<number>(() => true) }

test('where executions do not repeat, a check goes on with new processes, and says so', async () => {
  const { verdict, notes } = await check(new Unsteady(false), fine, { executions: 400 })
  expect(verdict).toBe('held')
  expect(notes).toContainEqual(
    expect.stringMatching(
      /^3 of \d+ executions did not repeat, .*; the search went on with new processes for each execution$/,
    ),
  )
})

test('where they do not repeat even then, the check ends soon', async () => {
  const { verdict, executions, notes } = await check(new Unsteady(true), fine, { executions: 10_000 })
  expect(verdict).toBe('undetermined')
  expect(executions).toBeLessThan(500)
  expect(notes.at(1)).toMatch(
    /^3 of \d+ executions did not repeat, .*; nothing was left to rely on less: it was ended$/,
  )
})

/** One of its steps has the name that it is given: as where each worker's nodes see something else of the machine. */
class Named extends Model<number> {
  #isAnew = false

  constructor(name: string) {
    super(0, count =>
      count === 12
        ? []
        : ['a', 'b'].map(node => ({
            ...{ kind: 'timer', node, label: `${node} ${count === 1 ? name : count}` },
            next: () => count + 1,
          })),
    )
  }

  readonly processes = processes({
    stopRewinding: () => {
      const wasRewound = !this.#isAnew
      this.#isAnew = true
      return wasRewound
    },
  })
}

test('if two cells differ, a check goes on with one of them, and says so', async () => {
  const cells = ['one', 'uno'].map(name => new OwnCell(new Named(name), fine))
  const { verdict, notes } = await checkInCells(cells, fine, { executions: 400 })
  expect(verdict).toBe('held')
  expect(notes).toEqual([
    expect.stringMatching(/; the search went on with new processes for each execution$/),
    expect.stringMatching(/^3 of \d+ executions did not repeat, .*; the search went on by one worker$/),
  ])
})
