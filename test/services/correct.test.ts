import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../cli/library.ts'
import { directoryWith } from '../harness/system.ts'
import { has } from '../has.ts'
import { facilities, systemOf } from './correct/facilities.ts'

const root = join(import.meta.dirname, '../..')
/** Those that are soon executed; all of them, for longer: `npm run bench:correct`. */
const fast = ['flock and fcntl', 'mmap', 'signals and timers', 'double-fork', 'futexes between processes', 'vfork']

test.each(facilities.filter(({ name }) => fast.includes(name)))('a correct program is held: $name', async facility => {
  if (!has(facility.needs)) return
  const system = systemOf(facility, { root, directory: directoryWith({}) })
  const found = await check(system, { executions: 15, workers: 1, out: directoryWith({}) })
  expect(found).toMatchObject({
    verdict: 'held',
    notes: expect.not.arrayContaining([expect.stringMatching(/threw|never/)]),
  })
})
