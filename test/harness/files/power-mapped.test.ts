import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Writes to two pages of a file through memory at each tick, and flushes what it is told to. */
const writer = `
import mmap, os, sys, time
path = '/var/tmp/data'
if not os.path.exists(path):
  with open(path, 'wb') as file: file.write(b'0' * 3 * 4096)
  os.sync()
with open(path, 'r+b') as file:
  pages = mmap.mmap(file.fileno(), 0)
  print('found', pages[0:1].decode(), pages[4096:4097].decode(), pages[8192:8193].decode(), flush=True)
  for count in range(1, 10):
    time.sleep(1)
    for page in (0, 1): pages[page * 4096:page * 4096 + 1000] = str(count).encode() * 1000
    if sys.argv[1] == 'first': pages.flush(0, 4096)
    if sys.argv[1] == 'both': pages.flush()
    if sys.argv[1] == 'file': os.fsync(file.fileno())
    if sys.argv[1] == 'call': os.pwrite(file.fileno(), b'9' * 1000, 8192)
`

const power = (labels: readonly string[]) => labels.filter(label => label.startsWith('power n keeps'))

const writers = (flushed: string) =>
  clusterOf(
    { nodes: { n: { command: ['python3', 'writer.py', flushed] } }, faults: { power: 2 }, overlap: 0 },
    { 'writer.py': writer },
  )

/** What may be left after so many ticks, and what the next life finds of one of these. */
const leftAfter = async (flushed: string, ticks: number) => {
  const cluster = writers(flushed)
  await cluster.reset()
  for (let tick = 0; tick < ticks; tick++) await take(cluster, 'n timer +1000ms')
  const offered = labelsOf(cluster)
  const find = async (label: string) => {
    await cluster.reset()
    for (let tick = 0; tick < ticks; tick++) await take(cluster, 'n timer +1000ms')
    await take(cluster, label)
    await take(cluster, 'restart n')
    return stdoutOf(cluster, 'n').at(-1)
  }
  return { power: power(offered), offered, find }
}

test('what was written through memory and not flushed may be lost, by pages', async () => {
  const { power, find } = await leftAfter('none', 2)
  expect(power).toEqual([
    'power n keeps 2 of 2',
    'power n keeps 1 of 2, not write data',
    'power n keeps 0 of 2',
    'power n keeps 1 of 2, without 1 write data',
    'power n keeps 1 of 2, write data torn',
    'power n keeps 2 of 2, write data torn',
  ])
  expect(await find('power n keeps 2 of 2')).toBe('found 2 2 0')
  expect(await find('power n keeps 1 of 2, not write data')).toBe('found 2 0 0')
  expect(await find('power n keeps 1 of 2, without 1 write data')).toBe('found 0 2 0')
  expect(await find('power n keeps 0 of 2')).toBe('found 0 0 0')
})

test('what was flushed is kept: a part by msync, all by msync or fsync', async () => {
  const first = await leftAfter('first', 2)
  expect(await first.find('power n keeps 0 of 1')).toBe('found 2 0 0')
  for (const flushed of ['both', 'file']) {
    const { offered, find } = await leftAfter(flushed, 2)
    expect(power(offered)).toEqual([])
    expect(await find('power n')).toBe('found 2 2 0')
  }
})

test('a file may be written through memory and by calls', async () => {
  const { power, find } = await leftAfter('call', 1)
  expect(power).toContain('power n keeps 3 of 3')
  expect(await find('power n keeps 3 of 3')).toBe('found 1 1 9')
  expect(await find('power n keeps 2 of 3, not write data')).toBe('found 1 1 0')
  expect(await find('power n keeps 0 of 3')).toBe('found 0 0 0')
})
