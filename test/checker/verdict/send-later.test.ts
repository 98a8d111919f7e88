import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Violation } from '../../../checker/cells/violation.ts'
import { check } from '../../../checker/check.ts'
import { labelsOf } from '../../../checker/system/labels.ts'
import { always } from '../../../checker/system/property.ts'
import { startAfter } from '../../../checker/system/start.ts'
import type { Choice } from '../../../checker/system/system.ts'
import { hasten, inUsualNetwork } from '../../../checker/verdict/hasten.ts'
import { executedAs, sentLater } from '../../../checker/verdict/send-later.ts'
import { isMetAsUsual } from '../../../checker/verdict/skew.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { Clocked } from '../systems/clocked.ts'
import type { Transition } from '../systems/model.ts'
import { offices, post } from '../systems/post.ts'

interface Sessions {
  /** Seconds on the clock of `b`, up to 20. */
  readonly ticks: number
  /** How many more seconds the session of `a` lasts on `b`. */
  readonly lasts: number
  readonly flying: readonly string[]
  readonly asked: boolean
  readonly isLate: boolean
}

type Done = (state: Sessions) => Sessions

/** A client calls `a`, which asks `b`; `b` ticks each second. */
const sessions = ({
  asked,
  ticked,
  taken,
}: {
  asked: Done
  ticked: Done
  taken: (state: Sessions, what: string) => Sessions
}) =>
  new Clocked<Sessions>({ ticks: 0, lasts: 0, flying: [], asked: false, isLate: false }, state => [
    ...state.flying.map((label): Transition<Sessions> => {
      const node = label[2]!
      const arrived = { ...state, flying: state.flying.filter(each => each !== label) }
      return { kind: 'deliver', node, label, next: () => taken(arrived, label.split(' ')[2]!) }
    }),
    ...(state.ticks < 20
      ? [
          {
            kind: 'timer',
            node: 'b',
            label: 'b timer +1000ms',
            afterMs: 1000,
            next: () => ticked({ ...state, ticks: state.ticks + 1 }),
          } as const,
        ]
      : []),
    ...(state.asked
      ? []
      : [{ kind: 'client', node: 'ann', label: 'client ann', next: () => asked({ ...state, asked: true }) } as const]),
  ])

const sending = (state: Sessions, ...labels: readonly string[]): Sessions => ({
  ...state,
  flying: [...state.flying, ...labels],
})

const neverLate = always<Sessions>(({ isLate }) => !isLate)
const violation: Violation = { kind: 'safety', property: 'neverLate', step: 0, message: '' }
const tick = 'b timer +1000ms'
const ticks = (count: number): string[] => Array.from({ length: count }, () => tick)

/** `b` must not be asked for anything after seventeen seconds. */
const closing = () =>
  sessions({
    asked: state => sending(state, 'a→b #1 ask'),
    ticked: state => state,
    taken: state => ({ ...state, isLate: state.ticks >= 17 }),
  })

/** `b` opens a session of a second for `a`, and must not hear of `a` when that is over; but up to ten seconds it is not open. */
const opening = () =>
  sessions({
    asked: state => sending(state, 'a→b #1 open'),
    ticked: state => ({ ...state, lasts: Math.max(0, state.lasts - 1), isLate: state.isLate }),
    taken: (state, what) => {
      if (what === 'open') return sending({ ...state, lasts: 1 }, 'b→a #1 opened')
      if (what === 'opened') return sending(state, 'a→b #2 use')
      return { ...state, isLate: state.lasts === 0 && state.ticks >= 10 }
    },
  })

const executed = async (system: Clocked<Sessions>, labels: readonly string[]) => {
  const cells = cellsOf(system, { neverLate })
  const outcome = await cells.run({ start: startAfter(labels) })
  return { cells, ...outcome }
}

test('a message is sent later where nothing but time lies between', async () => {
  const { schedule, arrival, delayMs } = await executed(closing(), ['client ann', ...ticks(17), 'a→b #1 ask'])
  expect(delayMs).toBe(17_000)
  expect(labelsOf(sentLater(executedAs(schedule, arrival)))).toEqual([...ticks(17), 'client ann', 'a→b #1 ask'])
})

test('a message that is still in flight at the end is sent later too', async () => {
  const { schedule, arrival } = await executed(closing(), ['client ann', ...ticks(3)])
  expect(labelsOf(sentLater(executedAs(schedule, arrival)))).toEqual([...ticks(3), 'client ann'])
})

test('a violation of a message that could have been sent later needs no slow network', async () => {
  const { cells, ...outcome } = await executed(closing(), ['client ann', ...ticks(17), 'a→b #1 ask'])
  expect(await isMetAsUsual(cells, outcome, violation)).toBe(true)
  expect(labelsOf((await inUsualNetwork(cells, outcome.schedule, violation))!.schedule)).toEqual([
    ...ticks(17),
    'client ann',
    'a→b #1 ask',
  ])
})

test('a conversation begins so late that its message is in flight for as long as it must be', async () => {
  const early = ['client ann', 'a→b #1 open', 'b→a #1 opened', ...ticks(17), 'a→b #2 use']
  const { cells, schedule, delayMs } = await executed(opening(), early)
  const hastened = await hasten(cells, { schedule, message: '', delayMs }, violation, {})
  expect([delayMs, hastened.delayMs]).toEqual([17_000, 1000])
  // Seven of the ticks are needed no more.
  expect(labelsOf(hastened.schedule)).toEqual([
    ...ticks(9),
    'client ann',
    'a→b #1 open',
    'b→a #1 opened',
    tick,
    'a→b #2 use',
  ])
})

test('a check says of no violation that it needs a slow network if it does not', async () => {
  for (const system of [closing, opening])
    for (const seed of [1, 2, 3]) {
      const { verdict, delayMs } = await check(system(), { neverLate }, { seed, executions: 300 })
      expect([verdict, delayMs]).toEqual(['violated', expect.toSatisfy((ms: number) => ms <= 1000)])
    }
})

test('in any system of nodes, messages that are sent later lead to the same state', async () => {
  await fc.assert(
    fc.asyncProperty(offices, fc.infiniteStream(fc.nat()), async (office, draws) => {
      const system = post(office, { acts: 3 })
      const chosen: Choice[] = []
      await system.reset()
      for (let enabled = system.enabled(); enabled.length > 0 && chosen.length < 12; enabled = system.enabled()) {
        const choice = enabled[draws.next().value! % enabled.length]!
        chosen.push(choice)
        await system.execute(choice)
      }
      const cells = cellsOf(system, {})
      const { schedule, arrival, fingerprints } = await cells.run({ start: startAfter(labelsOf(chosen)) })
      const later = sentLater(executedAs(schedule, arrival))
      const other = await cells.run({ start: startAfter(labelsOf(later)) })
      // Ways are in the order of their first letters.
      expect(JSON.parse(other.fingerprints.at(-1)!)).toEqual(JSON.parse(fingerprints.at(-1)!))
    }),
  )
})
