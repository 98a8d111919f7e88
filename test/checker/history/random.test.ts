import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linearizability, sequentialConsistency } from '../../../checker/history/consistency.ts'
import type { Model } from '../../../checker/history/model.ts'
import { lock, map, queue, register } from '../../../checker/history/models.ts'
import { type Operation, perhaps } from '../../../checker/history/operation.ts'
import { contradictoryPart } from '../../../checker/history/property.ts'
import { smallestPart } from '../../../checker/history/smallest.ts'
import { isLinearizable, isSequentiallyConsistent } from './brute-force.ts'

const small = fc.constantFrom(null, 0, 1)
const ops = (...names: string[]) => fc.constantFrom(...names)
const asks: Readonly<
  Record<string, { model: Model; asked: fc.Arbitrary<Pick<Operation, 'op' | 'value' | 'result'>> }>
> = {
  register: {
    model: register(),
    asked: fc.oneof(
      fc.record({ op: ops('write'), value: small }),
      fc.record({ op: ops('read'), result: small }),
      fc.record({ op: ops('cas'), value: fc.tuple(small, small), result: fc.boolean() }),
    ),
  },
  map: {
    model: map(),
    asked: fc.oneof(
      fc.record({ op: ops('put'), value: small }),
      fc.record({ op: ops('get'), result: small }),
      fc.record({ op: ops('delete') }),
    ),
  },
  queue: {
    model: queue() as Model,
    asked: fc.oneof(
      fc.record({ op: ops('enqueue'), value: fc.nat(1) }),
      fc.record({ op: ops('dequeue'), result: small }),
    ),
  },
  lock: {
    model: lock() as Model,
    asked: fc.record({ op: ops('acquire', 'release'), result: fc.boolean() }),
  },
}

/** Up to six operations of up to three processes on two keys, each with a beginning and an end. */
const histories = (asked: fc.Arbitrary<Pick<Operation, 'op' | 'value' | 'result'>>) =>
  fc
    .array(
      fc.record({
        asked,
        process: fc.constantFrom('a', 'b', 'c'),
        key: fc.constantFrom('x', 'x', 'y'),
        outcome: fc.constantFrom('ok' as const, 'ok' as const, 'ok' as const, 'unknown' as const),
        begin: fc.nat(20),
        length: fc.nat(6),
      }),
      { maxLength: 6 },
    )
    .map(drawn =>
      drawn.map(({ asked: { result, ...asked }, begin, length, outcome, ...who }, i): Operation => {
        // No two events at once.
        const invoked = 100 * begin + i
        const ending = outcome === 'ok' ? { result, returned: 100 * (begin + length) + 50 + i } : {}
        return { ...who, ...asked, outcome, invoked, ...ending }
      }),
    )

test.each(Object.entries(asks))('histories of a %s are judged as by trying all orders', (_, { model, asked }) => {
  const seen = { linearizable: 0, sequential: 0, neither: 0 }
  fc.assert(
    fc.property(histories(asked), history => {
      const isLinear = isLinearizable(history, model)
      const isSequential = isSequentiallyConsistent(history, model)
      seen[isLinear ? 'linearizable' : isSequential ? 'sequential' : 'neither'] += 1
      expect(contradictoryPart(linearizability, model, history) === undefined).toBe(isLinear)
      expect(contradictoryPart(sequentialConsistency, model, history) === undefined).toBe(isSequential)
    }),
    { numRuns: 800 },
  )
  // Of a map, one in fifty is sequentially consistent alone.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})

/** That of the first kind is needed to explain the others, but as one that succeeded. */
const aSwapThatFailed: Operation[] = (
  [
    { op: 'cas', value: [null, 1], result: false },
    { op: 'write', value: 1 },
    { op: 'read', result: 0 },
    { op: 'cas', value: [1, 0], result: false },
  ] as const
).map((asked, index) => ({ process: 'a', key: 'x', outcome: 'ok', invoked: index, returned: 50 + index, ...asked }))

test('the smallest part contradicts itself whatever the rest was, and not if one of its operations is pending', () => {
  const { model, asked } = asks.register!
  for (const [consistency, isConsistent] of [
    [linearizability, isLinearizable],
    [sequentialConsistency, isSequentiallyConsistent],
  ] as const) {
    fc.assert(
      fc.property(histories(asked), history => {
        const contradictory = contradictoryPart(consistency, model, history)
        fc.pre(contradictory !== undefined)
        const smallest = smallestPart(contradictory, operations => consistency.order(operations, model))
        const isIn = ({ invoked }: Operation) => smallest.some(each => each.invoked === invoked)
        // A process may see what is written only later, where nothing but its own order counts.
        const end = Math.max(...smallest.map(({ returned = 0 }) => returned))
        const until = contradictory.filter(({ invoked }) => invoked <= end)
        const restOpen = until.map(operation => (isIn(operation) ? operation : perhaps(operation)))
        expect(isConsistent(smallest, model)).toBe(false)
        expect(isConsistent(restOpen, model)).toBe(false)
        const withOneOpen = smallest.map(one => smallest.map(other => (other === one ? perhaps(other) : other)))
        expect(withOneOpen.some(operations => isConsistent(operations, model))).toBe(true)
      }),
      { numRuns: 150, examples: [[aSwapThatFailed]] },
    )
  }
})
