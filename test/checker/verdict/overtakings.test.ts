import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import { curveOf } from '../../../checker/verdict/curve.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { Model, type Transition } from '../systems/model.ts'
import { allAcknowledged, transport } from '../systems/transport.ts'

interface Board {
  readonly flight: readonly string[]
  readonly took: readonly string[]
  readonly ticks: number
}

/** Two writers send to a board, which keeps the write that comes last; a clock ticks on another node. */
const board = () => {
  const transitions = ({ flight, took, ticks }: Board): Transition<Board>[] => [
    ...flight.map(
      (label, place): Transition<Board> => ({
        kind: 'deliver',
        node: 'board',
        label,
        next: () => ({ ticks, took: [...took, label], flight: flight.toSpliced(place, 1) }),
      }),
    ),
    ...(ticks < 2 && took.length === 0
      ? [
          {
            kind: 'timer',
            node: 'ann',
            label: 'ann timer +10ms',
            next: () => ({ took, ticks: ticks + 1, flight: [...flight, `ann→board #${ticks + 1} write ${ticks + 1}`] }),
          } as const,
        ]
      : []),
  ]
  return new Model<Board>({ flight: [], took: [], ticks: 0 }, transitions)
}

test('names what overtook what, where the violation depends on it', async () => {
  const lastWins = always<Board>(({ took, ticks }) => took.length < 2 || took.at(-1)!.endsWith(` ${ticks}`))
  const verdict = await check(board(), { lastWins }, { executions: 200 })
  expect(verdict.schedule).toEqual([
    'ann timer +10ms',
    'ann timer +10ms',
    'ann→board #2 write 2',
    'ann→board #1 write 1',
  ])
  expect(verdict.overtakings).toEqual([
    { step: 3, label: 'ann→board #2 write 2', overtaken: 'ann→board #1 write 1', since: 1, delivered: 4 },
  ])
})

test('names a message that never came', async () => {
  const first = always<Board>(({ took }) => took.length === 0 || took[0]!.endsWith(' 1'))
  const verdict = await check(board(), { first }, { executions: 200 })
  expect(verdict.overtakings).toEqual([
    { step: 3, label: 'ann→board #2 write 2', overtaken: 'ann→board #1 write 1', since: 1, delivered: null },
  ])
})

test('names none where the order does not matter', async () => {
  const never = always<Board>(({ took }) => took.length === 0)
  const verdict = await check(board(), { never }, { executions: 200 })
  expect(verdict).toMatchObject({ verdict: 'violated', overtakings: [] })
})

test('of a death, names the order that it would recover without', async () => {
  const verdict = await check(transport(), { allAcknowledged }, { executions: 400 })
  expect(verdict.criticalTransition).toMatchObject({ case: 'C1' })
  expect(verdict.schedule).toEqual([
    'sender timer +100ms',
    'sender timer +100ms',
    'sender→receiver #3 SYN 2001',
    'receiver→sender #1 ACK 2001',
    'sender→receiver #1 SYN 1001',
  ])
  expect(verdict.overtakings).toEqual([
    {
      step: 3,
      label: 'sender→receiver #3 SYN 2001',
      overtaken: 'sender→receiver #1 SYN 1001',
      since: 0,
      delivered: 5,
    },
  ])
})

test('the last rise of the curve is the critical transition, and equally many walks begin in each state', async () => {
  const { curve } = await check(transport(), { allAcknowledged }, { executions: 400 })
  expect(curve).toEqual({
    walks: 16,
    length: 64,
    points: [0, 0, 10, 13, 9, 16].map((bad, step) => ({ step, bad })),
  })
})

test('without the time for a walk from each state there is no curve', async () => {
  const cells = cellsOf(transport(), { allAcknowledged })
  const found = { kind: 'liveness', property: 'allAcknowledged' } as const
  const how = { found, length: 8, random: new Random(1), limits: { executions: 2 } }
  expect(await curveOf(cells, ['sender timer +100ms', 'sender timer +100ms'], how)).toBeUndefined()
})
