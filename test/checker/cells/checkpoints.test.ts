import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { OwnCell } from '../../../checker/cells/cell.ts'
import { Cells } from '../../../checker/cells/cells.ts'
import type { TaskOutcome } from '../../../checker/cells/task.ts'
import { sometimes } from '../../../checker/system/property.ts'
import { initial, startAfter, startAsOffered } from '../../../checker/system/start.ts'
import type { Checkpoint, Choice, System } from '../../../checker/system/system.ts'
import { comesHome, type Ring, ring } from '../systems/ring.ts'

interface RingCheckpoint extends Checkpoint {
  readonly moves: readonly Choice[]
  readonly isLost: boolean
}

// What is worth saving follows from the time that things take: the test says how much that is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** A ring whose steps take their time, that can be saved. */
class SavedRing implements System<Ring> {
  readonly #ring = ring()
  #moves: Choice[] = []
  resets = 0
  restores = 0
  saved = 0
  /** How many resets there had been when everything saved was lost. */
  lostAfter = 0
  /** States after more moves than this cannot be saved. */
  movesMax = Number.POSITIVE_INFINITY
  /** Whether states can only be saved in files. */
  needsFiles = false
  tries = 0
  readonly #started = new Set<number>()
  readonly #startMs: number

  /** @param startMs what the first reset of a variant takes */
  constructor(startMs = 0) {
    this.#startMs = startMs
  }

  async reset(variant = 0) {
    this.resets += 1
    this.#moves = []
    if (!this.#started.has(variant)) vi.advanceTimersByTime(this.#startMs)
    this.#started.add(variant)
    return this.#ring.reset()
  }

  enabled() {
    return this.#ring.enabled()
  }

  async execute(choice: Choice) {
    vi.advanceTimersByTime(5)
    this.#moves.push(choice)
    return this.#ring.execute(choice)
  }

  state() {
    return this.#ring.state()
  }

  fingerprint() {
    return this.#ring.fingerprint()
  }

  async checkpoint(mayHaveFiles?: boolean): Promise<RingCheckpoint | undefined> {
    this.tries += 1
    if (this.needsFiles && !mayHaveFiles) return undefined
    if (this.#moves.length > this.movesMax) return undefined
    this.saved += 1
    const discard = async () => {
      this.saved -= 1
    }
    const savedAfter = this.resets
    const isLost = () => savedAfter <= this.lostAfter
    return {
      moves: [...this.#moves],
      discard,
      get isLost() {
        return isLost()
      },
    }
  }

  async restore({ moves }: RingCheckpoint) {
    this.restores += 1
    await this.#ring.reset()
    for (const move of moves) await this.#ring.execute(move)
    this.#moves = [...moves]
  }
}

const plain = (outcome: TaskOutcome) => JSON.parse(JSON.stringify({ ...outcome, lastLive: [...outcome.lastLive] }))

const moves = (count: number): string[] => Array(count).fill('move')

it('a long way is executed twice; from then on executions begin at its end', async () => {
  const system = new SavedRing()
  const cell = new OwnCell(system, { comesHome })
  const cells = Cells.of([cell])
  const way = moves(61)
  const first = plain(await cells.run({ start: startAfter(way) }))
  for (const { resets, restores } of [
    { resets: 2, restores: 0 },
    { resets: 2, restores: 1 },
  ]) {
    expect(plain(await cells.run({ start: startAfter(way) }))).toEqual(first)
    expect(system).toMatchObject({ resets, restores, saved: 1 })
  }
  // Beyond it, and not before it.
  const beyond = await cells.run({ start: startAfter([...way, 'move', 'fall']) })
  expect(beyond.schedule).toHaveLength(63)
  expect(beyond.fingerprints).toHaveLength(64)
  expect(beyond.lastLive.get('comesHome')).toBe(60)
  expect(system).toMatchObject({ resets: 2, restores: 2 })
  await cells.run({ start: startAfter(moves(3)) })
  expect(system).toMatchObject({ resets: 3, restores: 2 })
  expect(cells.counts).toMatchObject({ executions: 5, steps: 61 * 3 + 63 + 3 })
  await cell.end()
  expect(system.saved).toBe(0)
})

it('a very long way is executed once', async () => {
  const system = new SavedRing()
  const cells = Cells.of([new OwnCell(system, { comesHome })])
  for (let i = 0; i < 3; i++) await cells.run({ start: startAfter(moves(900)) })
  expect(system).toMatchObject({ resets: 1, restores: 2, saved: 1 })
})

it('a state far from the start outlives those that were needed behind it for a while', async () => {
  const system = new SavedRing()
  const cells = Cells.of([new OwnCell(system, { comesHome })])
  const run = (count: number) => cells.run({ start: startAfter(moves(count)) })
  await run(900)
  for (let count = 960; count < 1400; count += 60) for (let i = 0; i < 3; i++) await run(count)
  expect(system.saved).toBe(4)
  await run(901)
  expect(system).toMatchObject({ resets: 1, restores: 25 })
})

it('what was met on the way to a saved state counts for each execution that begins there', async () => {
  const system = new SavedRing()
  const cell = new OwnCell(system, { hasPassed: sometimes<Ring>(({ place }) => place === 2) })
  const cells = Cells.of([cell])
  for (let ordinal = 0; ordinal < 4; ordinal++)
    expect((await cells.run({ start: startAfter(moves(61)) })).sights).toEqual([
      { what: 'hasPassed was met', count: 1 },
    ])
  expect(system.restores).toBe(2)
  await cell.end()
})

it('a saved state that was lost is dropped without a try, and saved anew', async () => {
  const system = new SavedRing()
  const cells = Cells.of([new OwnCell(system, { comesHome })])
  const run = () => cells.run({ start: startAfter(moves(61)) })
  for (let i = 0; i < 3; i++) await run()
  expect(system).toMatchObject({ resets: 2, restores: 1, saved: 1 })
  system.lostAfter = system.resets
  await run()
  expect(system).toMatchObject({ resets: 3, restores: 1, saved: 1 })
  await run()
  expect(system).toMatchObject({ resets: 3, restores: 2, saved: 1 })
})

it('where a state cannot be saved, those further along are not tried, and earlier ones are', async () => {
  const system = Object.assign(new SavedRing(), { movesMax: 70 })
  const cells = Cells.of([new OwnCell(system, { comesHome })])
  for (const count of [80, 90, 61]) for (let i = 0; i < 3; i++) await cells.run({ start: startAfter(moves(count)) })
  expect(system).toMatchObject({ tries: 2, saved: 1, restores: 1 })
})

it('a system that cannot be saved is not tried for ever', async () => {
  const system = Object.assign(new SavedRing(), { movesMax: 0 })
  const cells = Cells.of([new OwnCell(system, { comesHome })])
  for (let count = 100; count > 60; count--)
    for (let i = 0; i < 2; i++) await cells.run({ start: startAfter(moves(count)) })
  expect(system.tries).toBe(8)
})

it('an execution that must begin at the start does so, whatever was saved', async () => {
  const system = new SavedRing()
  const cells = Cells.of([new OwnCell(system, { comesHome })])
  const way = moves(61)
  for (let i = 0; i < 3; i++) await cells.run({ start: startAfter(way) })
  expect(system).toMatchObject({ resets: 2, restores: 1 })
  await cells.run({ start: startAfter(way), isAnew: true })
  expect(system).toMatchObject({ resets: 3, restores: 1 })
})

it('an observer of executions is told if one begins at a saved state', async () => {
  const begins: number[] = []
  const observer = {
    onReset: (_: unknown, __: unknown, schedule: readonly Choice[]) => void begins.push(schedule.length),
  }
  const cells = Cells.of([new OwnCell(new SavedRing(), { comesHome }, { observer })])
  for (let i = 0; i < 3; i++) await cells.run({ start: startAfter(moves(61)) })
  expect(begins).toEqual([0, 0, 61])
})

it('a short way is executed again and again', async () => {
  const system = new SavedRing()
  const cells = Cells.of([new OwnCell(system, { comesHome })])
  for (let i = 0; i < 4; i++) await cells.run({ start: startAfter(moves(4)) })
  expect(system).toMatchObject({ resets: 4, restores: 0, saved: 0 })
})

it('a way that is not long is saved after some times, if that takes no files', async () => {
  const run = async (system: SavedRing) => {
    const cells = Cells.of([new OwnCell(system, { comesHome })])
    for (let i = 0; i < 16; i++) await cells.run({ start: startAfter(moves(10)) })
    return { system, cells }
  }
  expect((await run(new SavedRing())).system).toMatchObject({ resets: 3, restores: 13, tries: 1 })
  const { system, cells } = await run(Object.assign(new SavedRing(), { needsFiles: true }))
  expect(system).toMatchObject({ resets: 16, tries: 8, saved: 0 })
  // That longer ones can be saved is another matter.
  for (let i = 0; i < 3; i++) await cells.run({ start: startAfter(moves(61)) })
  expect(system).toMatchObject({ tries: 9, saved: 1, restores: 1 })
})

it('candidates for a shorter schedule begin at a state that they have in common, and come to the same', async () => {
  const candidate = (dropped: number) => [...moves(43).toSpliced(dropped, 1, 'nothing of this name'), 'fall']
  const run = async (system: System<Ring>) => {
    const cells = Cells.of([new OwnCell(system, { comesHome })])
    const outcomes: unknown[] = []
    for (let dropped = 42; dropped > 0; dropped--) {
      const outcome = await cells.run({ start: startAsOffered(candidate(dropped)) })
      expect(outcome.arrival.skipped).toEqual([dropped])
      outcomes.push(plain(outcome))
    }
    return outcomes
  }
  const saved = new SavedRing()
  expect(await run(saved)).toEqual(await run(Object.assign(new SavedRing(), { movesMax: 0 })))
  expect(saved.restores).toBeGreaterThan(20)
})

it('the time of the first start alone is no reason to save', async () => {
  const system = new SavedRing(300)
  const cells = Cells.of([new OwnCell(system, { comesHome })])
  for (const variant of [0, 0, 1, 1, 0, 0, 1]) await cells.ofVariant(variant).run({ start: initial })
  expect(system).toMatchObject({ resets: 7, restores: 0, saved: 0 })
})

it('a prepared cell has started its nodes; a start that failed then fails again in the execution', async () => {
  const system = new SavedRing()
  const cell = new OwnCell(system, { comesHome })
  await cell.prepare()
  expect(system.resets).toBe(1)
  const broken = new OwnCell(Object.assign(ring(), { reset: () => Promise.reject(new Error('no start')) }), {
    comesHome,
  })
  await broken.prepare()
  await expect(Cells.of([broken]).run({ start: initial })).rejects.toThrow('no start')
})
