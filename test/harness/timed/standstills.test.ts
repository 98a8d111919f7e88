import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Standstills } from '../../../harness/timed/standstills.ts'

test('a node takes inputs at the end of its standstill, and its clock leaves it out', () => {
  const standstills = new Standstills()
  standstills.add('n1', 100, 50)
  expect([99, 100, 149, 150].map(ms => standstills.takenMs('n1', ms))).toEqual([99, 150, 150, 150])
  expect([99, 100, 149, 150, 160].map(ms => standstills.ranMs('n1', ms))).toEqual([99, 100, 100, 100, 110])
  expect([99, 100, 110].map(ms => standstills.whenRan('n1', ms))).toEqual([99, 150, 160])
  expect([standstills.takenMs('n2', 120), standstills.ranMs('n2', 120), standstills.whenRan('n2', 120)]).toEqual([
    120, 120, 120,
  ])
  expect(standstills.lastEndMs).toBe(150)
})

test('one that is put on another goes on at the later end; one that follows at once holds as well', () => {
  const standstills = new Standstills()
  standstills.add('n1', 100, 50)
  standstills.add('n1', 120, 10)
  expect(standstills.takenMs('n1', 110)).toBe(150)
  standstills.add('n1', 120, 60)
  expect(standstills.takenMs('n1', 110)).toBe(180)
  const copy = standstills.copy()
  standstills.add('n1', 180, 20)
  expect([standstills.takenMs('n1', 110), standstills.ranMs('n1', 300), standstills.whenRan('n1', 200)]).toEqual([
    200, 200, 300,
  ])
  expect(copy.takenMs('n1', 110)).toBe(180)
})

test('when a node has run for so long is the first time at which it has, unless it stands still then', () => {
  const waits = fc.array(fc.record({ afterMs: fc.nat(50), forMs: fc.integer({ min: 1, max: 50 }) }), { maxLength: 6 })
  fc.assert(
    fc.property(waits, fc.nat(600), (waits, ranMs) => {
      const standstills = new Standstills()
      let nowMs = 0
      for (const { afterMs, forMs } of waits) standstills.add('n1', (nowMs += afterMs), forMs)
      const atMs = standstills.whenRan('n1', ranMs)
      expect(standstills.ranMs('n1', atMs)).toBe(ranMs)
      expect(standstills.takenMs('n1', atMs)).toBe(atMs)
    }),
  )
})
