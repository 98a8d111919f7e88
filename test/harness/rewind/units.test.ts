import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  changesBetween,
  inside,
  piecesInside,
  piecesWithout,
  unite,
  without,
} from '../../../harness/rewind/memory/pages.ts'
import { differences, type MemoryDifference } from '../../../harness/rewind/memory/regions.ts'
import type { AddressRange, Region } from '../../../linux/memory.ts'

/** Disjoint ranges in order, each with a value; the border between two is a random one. */
const ranges = <Value>(value: fc.Arbitrary<Value>) =>
  fc
    .array(fc.record({ length: fc.integer({ min: 1, max: 5 }), gap: fc.integer({ min: 0, max: 3 }), value }))
    .map(parts => {
      let at = 0
      return parts.map(({ length, gap, value }) => {
        const start = at + gap
        at = start + length
        return { start, end: at, value }
      })
    })

const runs: fc.Arbitrary<AddressRange[]> = ranges(fc.constant(0))
const regions: fc.Arbitrary<Region[]> = ranges(fc.constantFrom('rw-p', 'r--p')).map(parts =>
  parts.map(({ start, end, value: access }) => ({ start, end, access, file: '', path: '', offset: 0 })),
)

const covers = <Part extends AddressRange>(all: readonly Part[], address: number) =>
  all.find(({ start, end }) => start <= address && address < end)
const addresses = Array.from({ length: 200 }, (_, address) => address)

const isIn = (all: readonly AddressRange[], address: number) => covers(all, address) !== undefined

test('what runs have together, what of some lies inside others, and where two lists of pieces differ', () =>
  fc.assert(
    fc.property(
      runs,
      runs,
      ranges(fc.constantFrom(0, 1)),
      ranges(fc.constantFrom(0, 1)),
      (some, others, ones, twos) => {
        const memories = [Buffer.alloc(200), Buffer.alloc(200)]
        const piecesOf = (parts: typeof ones) =>
          parts.map(({ start, end, value }) => ({ start, end, bytes: memories[value]!.subarray(start, end) }))
        const [these, those] = [piecesOf(ones), piecesOf(twos)]
        const [all, both, parts] = [unite(some, others), inside(some, others), piecesInside(these, some)]
        const changes = changesBetween(these, those)
        for (const address of addresses) {
          expect(isIn(all, address)).toBe(isIn(some, address) || isIn(others, address))
          expect(isIn(both, address)).toBe(isIn(some, address) && isIn(others, address))
          expect(isIn(parts, address)).toBe(isIn(these, address) && isIn(some, address))
          expect(isIn(changes, address)).toBe(covers(ones, address)?.value !== covers(twos, address)?.value)
        }
        expect(all.every(({ end }, index) => end < (all[index + 1]?.start ?? Number.POSITIVE_INFINITY))).toBe(true)
      },
    ),
  ))

test('what of runs lies outside others', () =>
  fc.assert(
    fc.property(runs, runs, (some, others) => {
      const rest = without(some, others)
      const expected = (address: number) => covers(some, address) && !covers(others, address)
      expect(addresses.filter(address => covers(rest, address))).toEqual(addresses.filter(expected))
    }),
  ))

test('the bytes of pieces that lie outside others', () =>
  fc.assert(
    fc.property(runs, runs, (some, others) => {
      const pieces = some.map(({ start, end }) => ({
        start,
        end,
        bytes: Buffer.from(Array.from({ length: end - start }, (_, i) => (start + i) % 256)),
      }))
      const rest = piecesWithout(pieces, others)
      expect(rest.map(({ start, end }) => ({ start, end }))).toEqual(without(some, others))
      for (const { start, end, bytes } of rest)
        expect([...bytes]).toEqual(Array.from({ length: end - start }, (_, i) => (start + i) % 256))
    }),
  ))

test('differences are where two mappings are not alike, and nowhere else', () =>
  fc.assert(
    fc.property(regions, regions, (before, now) => {
      const found = differences(before, now)
      const at = (address: number) => ({
        before: covers(before, address) as Region | undefined,
        now: covers(now, address) as Region | undefined,
      })
      const unlike = addresses.map(at).filter(sides => sides.before?.access !== sides.now?.access)
      const told = addresses.flatMap(address => (covers(found, address) as MemoryDifference | undefined) ?? [])
      expect(told.map(({ before, now }) => ({ before, now }))).toEqual(unlike)
    }),
  ))

test('the same file mapped further on is another mapping', () => {
  const region = { start: 0x1000, end: 0x3000, access: 'r--p', file: 'fd:00 17', path: '/program', offset: 0 }
  expect(differences([region], [{ ...region, offset: 0x1000 }])).toHaveLength(1)
  const upperHalf = { ...region, start: 0x2000, offset: 0x1000 }
  expect(differences([region], [{ ...region, end: 0x2000 }, upperHalf])).toEqual([])
})
