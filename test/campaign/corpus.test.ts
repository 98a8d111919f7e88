import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addSchedule, type FoundSchedule, schedulesIn } from '../../campaign/schedules/corpus.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lastnail-corpus-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const finding = { at: '2026-01-01T00:00:00Z', commit: null }
const found = (system: string, property = 'oneLeader'): FoundSchedule => ({
  system,
  config: '../lastnail.config.ts',
  property,
  kind: 'safety',
  message: `${property} does not hold`,
  seed: 1,
  variant: 0,
  criticalTransition: null,
  programs: {},
  labels: ['n1→n2 #1 4 bytes :7000 "vote"'],
})

test('systems that share a directory keep the same bug in a file each', () => {
  const three = addSchedule(directory, found('three'), finding)
  const five = addSchedule(directory, found('five'), finding)
  expect(five).toEqual({ path: expect.not.stringContaining(three.path), times: 1 })
  expect(addSchedule(directory, found('three'), finding)).toEqual({ path: three.path, times: 2 })
  expect(addSchedule(directory, found('five'), finding)).toEqual({ path: five.path, times: 2 })
  expect(schedulesIn(directory).map(({ schedule }) => schedule.system)).toEqual(
    expect.arrayContaining(['three', 'five']),
  )
})

test('a property with a long name is kept in a file with a shorter one', () => {
  addSchedule(directory, found('three', 'long'.repeat(100)), finding)
  expect(readdirSync(directory)).toHaveLength(1)
})
