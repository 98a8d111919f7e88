import { afterEach, expect, test, vi } from 'vitest'
import { WrittenPages } from '../../../harness/rewind/memory/written-pages.ts'
import { ProcessMemory } from '../../../linux/memory.ts'
import { clusterOf, stdoutOf } from '../system.ts'

afterEach(() => vi.restoreAllMocks())

/** Writes to pages that were empty and to some that were not, drops some, and maps others where it had mapped these. */
const program = `
import mmap, time

size = 64 * 4096
pages = lambda: mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
total = lambda m: sum(m[i * 4096] for i in range(64))

m = pages()
for i in range(0, 64, 2): m[i * 4096] = i + 1
print('up', flush=True)
time.sleep(1)
print(total(m), flush=True)
m[3 * 4096] = 9
m[4 * 4096] = 200
m.madvise(mmap.MADV_DONTNEED, 8 * 4096, 4 * 4096)
print(total(m), flush=True)
time.sleep(1)
m.close()
m = pages()
m[5 * 4096] = 7
print(total(m), flush=True)
time.sleep(1)
`

const executeFourTimes = async () => {
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'n.py'] } } }, { 'n.py': program })
  for (let execution = 0; execution < 4; execution++) {
    expect(await cluster.reset()).toEqual([])
    while (stdoutOf(cluster, 'n').length < 4) await cluster.execute(cluster.enabled()[0]!)
    expect(stdoutOf(cluster, 'n')).toEqual(['up', '1024', '1208', '7'])
  }
  expect(cluster.starts).toBe(1)
}

test('what was written to, dropped and mapped anew is as it was, where the kernel tells what that is', async context => {
  const watch = vi.spyOn(WrittenPages, 'watch')
  const writeAll = vi.spyOn(ProcessMemory.prototype, 'writeAll')
  await executeFourTimes()
  const [written] = watch.mock.results
  if (written!.value === undefined) return context.skip('this kernel does not tell (Linux 6.7 does)')
  const bytes = writeAll.mock.calls.map(([pieces]) => pieces.reduce((sum, piece) => sum + piece.bytes.length, 0))
  // Python has some megabytes of its own, of which it changes little.
  expect(bytes).toHaveLength(3)
  expect(Math.max(...bytes)).toBeLessThan(2 << 20)
})

test('the same if the kernel does not tell', async () => {
  vi.spyOn(WrittenPages, 'watch').mockReturnValue(undefined)
  await executeFourTimes()
})

test('a later mark copies what was written to since, and nothing of what was never used', async context => {
  const watch = vi.spyOn(WrittenPages, 'watch')
  const program = `
import mmap, time
m = mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for i in range(99):
    m[i << 12] = 1
    time.sleep(1)`
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'n.py'] } } }, { 'n.py': program })
  // Its start is marked as a whole.
  await cluster.reset()
  if (watch.mock.results[0]!.value === undefined) return context.skip('this kernel does not tell (Linux 6.7 does)')
  for (let mark = 0; mark < 3; mark++) {
    await cluster.execute(cluster.enabled()[0]!)
    const read = vi.spyOn(ProcessMemory.prototype, 'read')
    await cluster.checkpoint()
    expect(read.mock.calls.reduce((sum, [, length]) => sum + length, 0)).toBeLessThan(2 << 20)
    read.mockRestore()
  }
  expect(cluster.notes()).toEqual([])
})
