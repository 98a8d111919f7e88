import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { build, right, systemOf } from '../../../bench/threads/programs.ts'
import { check } from '../../../checker/check.ts'
import { narrowed } from '../../../checker/system/narrowed.ts'
import type { Cluster } from '../../../harness/cluster.ts'
import { clusterOf, directoryWith, printedAfter } from '../system.ts'

const sources = join(import.meta.dirname, '../../../bench/threads/programs')

/** One of the programs with a race between threads that the bench has, or its mended twin. */
const system = (file: string, version: 'wrong' | 'mended') =>
  clusterOf(systemOf(build(file, sources, directoryWith({})), version, 1))

const takeNarrow = async (cluster: Cluster, label: string) => {
  const choice = narrowed(cluster.enabled(), label)
  expect(choice?.label).toBe(label)
  await cluster.execute(choice!)
}

test('a thread gives way before one call of the next step; twenty of twenty executions are the same', async () => {
  const cluster = system('update.c', 'wrong')
  const said: string[] = []
  for (const _ of Array.from({ length: 20 })) {
    // After the main thread's open and close, and the first thread's open and read: its write.
    const printed = await printedAfter(cluster, () => takeNarrow(cluster, 'preempt store before call 5'))
    said.push(printed.join())
  }
  expect(new Set(said)).toEqual(new Set(['{"right": false},{"right": true}']))
})

test('threads take turns between two instructions, and no call is needed; twenty of twenty executions are the same', async () => {
  const cluster = system('withdraw.c', 'wrong')
  const said: string[] = []
  for (const _ of Array.from({ length: 20 })) {
    const printed = await printedAfter(cluster, () =>
      takeNarrow(cluster, 'preempt store every 127 instructions, from 1'),
    )
    said.push(printed.join())
  }
  expect(new Set(said)).toEqual(new Set(['{"right": false},{"right": true}']))
})

test.each([7, 127])(
  'a withdrawal under one lock is right, though threads give way every %i instructions',
  async every => {
    const cluster = system('withdraw.c', 'mended')
    const label = `preempt store every ${every} instructions, from 1`
    expect(await printedAfter(cluster, () => takeNarrow(cluster, label))).toEqual([
      '{"right": true}',
      '{"right": true}',
    ])
  },
)

describe.each([
  ['an update that two threads of a C program make to one file', 'update.c'],
  ['two locks that are taken in two orders', 'orders.c'],
  ['an update of python across a system call', 'update.py'],
])('%s', (_, file) => {
  test.each([1, 2])('is found, by one preemption, with seed %i', async seed => {
    const verdict = await check(system(file, 'wrong'), { right }, { executions: 120, seed })
    expect(verdict).toMatchObject({ verdict: 'violated' })
    expect(verdict.schedule!.filter(label => label.startsWith('preempt '))).toEqual([
      expect.stringMatching(/^preempt store (before (call|instruction) \d+|every \d+ instructions, from \d+)$/),
    ])
  })

  test('mended, it is held', async () => {
    expect(await check(system(file, 'mended'), { right }, { executions: 60, seed: 1 })).toMatchObject({
      verdict: 'held',
    })
  })
})
