import { expect, test } from 'vitest'
import { check } from '../../checker/check.ts'
import { clusterOf, directoryWith } from './system.ts'

const each = (statement: string) =>
  ['python3', '-uc', `import os, time\nwhile True: time.sleep(1); ${statement}`] as const
const honest = each(
  'print(time.time(), os.urandom(4), open("/dev/urandom", "rb").read(4), open("/proc/uptime").read())',
)
const options = { executions: 14, walkLength: 4, search: 'walk' } as const

test('what a node hides between executions is found, where they begin in place: it has new processes from then on', async () => {
  const directory = directoryWith({})
  const hides = each(`f = open("${directory}/hidden", "a"); f.write("x"); print(f.tell()); f.close()`)
  const cluster = clusterOf({
    nodes: { hides: { command: [...hides], write: [directory] }, honest: { command: [...honest] } },
  })
  expect((await check(cluster, {}, options)).verdict).toBe('held')
  expect(cluster.notes()).toEqual([
    expect.stringMatching(
      /^hides: an execution that began in place was done again on new processes, and what it wrote was not the same in step \d \(hides timer/,
    ),
  ])
  // Both at first, both for the audit, and one for each execution that was left.
  expect(cluster.starts).toBeGreaterThan(5)
})

test('where nothing is hidden, executions go on in place', async () => {
  const cluster = clusterOf({
    nodes: { a: { command: [...honest] }, b: { command: [...honest] } },
    faults: { crash: 1 },
  })
  const before = cluster.starts
  await check(cluster, {}, options)
  expect(cluster.notes()).toEqual([])
  expect(cluster.starts - before).toBeGreaterThanOrEqual(4)
})
