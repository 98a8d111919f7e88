import { expect, test } from 'vitest'
import { replay } from '../../checker/cells/replay.ts'
import { check, type Progress } from '../../checker/check.ts'
import { always } from '../../checker/system/property.ts'
import { initial } from '../../checker/system/start.ts'
import type { Choice, Step, System } from '../../checker/system/system.ts'
import { cellsOf } from './systems/cells-of.ts'
import { choiceOf } from './systems/model.ts'

const choice = (kind: 'deliver' | 'timer', label: string): Choice => choiceOf({ kind, node: 'n', label })
const left = choice('deliver', 'm→n left')
const right = choice('deliver', 'm→n right')
const timer = choice('timer', 'n timer +5000ms')

/** A node that crashes where a message is in flight for five seconds; `state` is what it was told. */
class Impatient implements System<string> {
  #told = ''
  #isOver = false
  #delayMsMax = Number.POSITIVE_INFINITY

  setDelayMsMax(milliseconds: number) {
    this.#delayMsMax = milliseconds
  }

  async reset() {
    this.#told = ''
    this.#isOver = false
    return []
  }

  enabled() {
    if (this.#isOver || this.#told.length === 6) return []
    return this.#delayMsMax < 5000 ? [left, right] : [left, right, timer]
  }

  async execute(chosen: Choice): Promise<Step> {
    this.#isOver = chosen === timer
    if (!this.#isOver) this.#told += chosen === left ? 'l' : 'r'
    const findings = this.#isOver ? [{ kind: 'crash', node: 'n', message: 'n gave up' } as const] : []
    return { choice: chosen, findings, delayMs: this.#isOver ? 5000 : undefined }
  }

  state() {
    return this.#told
  }

  fingerprint() {
    return `${this.#told} ${this.#isOver}`
  }
}

test('a violation in a usual network is reported before one that needs a slow network', async () => {
  const properties = { neverLllr: always<string>(told => told !== 'lllr') }
  for (const seed of [1, 2, 4]) {
    const verdict = await check(new Impatient(), properties, { seed, executions: 2000 })
    expect(verdict).toMatchObject({ verdict: 'violated', property: 'neverLllr', delayMs: 0 })
  }
})

test('a violation that needs a slow network is reported if there is no other, with how slow it must be', async () => {
  const verdict = await check(new Impatient(), {}, { executions: 2000 })
  expect(verdict).toMatchObject({ verdict: 'violated', kind: 'crash', delayMs: 5000, schedule: [timer.label] })
  // It does not cost all that the search may have.
  expect(verdict.executions).toBeLessThan(200)
})

test('a search from a given state puts nothing off: how slow the network was before is not its question', async () => {
  const verdict = await check(new Impatient(), {}, { executions: 2000, from: [left.label] })
  expect(verdict).toMatchObject({ verdict: 'violated', kind: 'crash', delayMs: 5000 })
  // 225 if it is put off.
  expect(verdict.executions).toBeLessThan(40)
})

test('a violation that needs a slow network is reported if the search for another one is interrupted', async () => {
  const abort = new AbortController()
  let isPutOff = false
  const onProgress = ({ phase }: Progress) => {
    if (phase === 'repeating') isPutOff = true
    else if (phase === 'searching' && isPutOff) abort.abort()
  }
  const verdict = await check(new Impatient(), {}, { executions: 2000, signal: abort.signal, onProgress })
  expect(verdict).toMatchObject({ verdict: 'violated', kind: 'crash', delayMs: 5000, repeated: true })
})

test('a schedule that is executed again is not kept within the bounds of the execution before', async () => {
  const system = new Impatient()
  const cells = cellsOf(system, {})
  await cells.run({ start: initial, delayMsMax: 1000 })
  const { violation, diverged } = await replay(system, {}, [left.label, timer.label])
  expect(diverged).toBeUndefined()
  expect(violation).toMatchObject({ kind: 'crash', step: 2 })
})
