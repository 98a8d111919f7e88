import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSchedule, writeSchedule } from '../../campaign/schedules/file.ts'
import type { Schedule } from '../../campaign/schedules/schedule.ts'
import { UsageError } from '../../checker/system/errors.ts'

let directory: string
let path: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lastnail-schedule-'))
  path = join(directory, 'kept.json')
})
afterAll(() => rmSync(directory, { recursive: true }))

const finding = { at: '2026-01-01T00:00:00Z', commit: null }
const schedule: Schedule = {
  format: 1,
  system: 'three',
  config: '../lastnail.config.ts',
  property: 'oneLeader',
  kind: 'safety',
  message: 'oneLeader does not hold',
  seed: 1,
  variant: 0,
  bucket: '01234567',
  criticalTransition: null,
  found: { first: finding, last: finding, times: 1 },
  programs: {},
  labels: ['n1→n2 #1 4 bytes :7000 "vote"', 'n1 timer'],
}

const refusal = (content: string): string => {
  writeFileSync(path, content)
  try {
    readSchedule(path)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return (error as Error).message
  }
  return 'read'
}

test('a comma too many is refused in one line, though the file has many', () => {
  writeSchedule(path, schedule)
  expect(readSchedule(path)).toEqual(schedule)
  const message = refusal(`${JSON.stringify(schedule, null, 2).slice(0, -3)},\n  ]\n}\n`)
  expect(message).toMatch(/ is torn, or was edited to something that is not JSON: /)
  expect(message).not.toContain('\n')
})

test.each(['{', '3', 'null', '[]'])('a timing of %s is refused, before anything is executed', timing => {
  expect(refusal(JSON.stringify({ ...schedule, timing }))).toBe(
    `${path} is not a schedule: timing: expected an object as JSON`,
  )
})
