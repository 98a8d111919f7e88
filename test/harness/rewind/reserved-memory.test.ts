import { expect, test, vi } from 'vitest'
import { WrittenPages } from '../../../harness/rewind/memory/written-pages.ts'
import { clusterOf, stdoutOf } from '../system.ts'

/**
 * Uses memory that it has only reserved: makes a part writable, says what it finds there, and writes to it. The second
 * part is made as it was afterwards. A file that is mapped for reading is made writable, and written in the same way.
 */
const program = `
import ctypes, mmap, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
page = 4096
none, readable, writable = 0, 1, 3
reserved = libc.mmap(None, 64 * page, none, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
with open('file', 'wb') as file: file.write(b'a' * 4 * page)
file = open('file', 'rb')
mapped = libc.mmap(None, 4 * page, readable, mmap.MAP_PRIVATE, file.fileno(), 0)

def use(address, before, after):
    assert libc.mprotect(address, page, writable) == 0
    byte = ctypes.c_ubyte.from_address(address)
    found = byte.value
    byte.value = 7
    if after != writable: assert libc.mprotect(address, page, after) == 0
    return found

print('up', flush=True)
time.sleep(1)
print(use(reserved, none, writable), use(reserved + 8 * page, none, none), use(mapped + page, readable, writable), flush=True)
time.sleep(1)
`

const executeThreeTimes = async () => {
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'n.py'] } } }, { 'n.py': program })
  for (let execution = 0; execution < 3; execution++) {
    expect(await cluster.reset()).toEqual([])
    while (stdoutOf(cluster, 'n').length < 2) await cluster.execute(cluster.enabled()[0]!)
    expect(stdoutOf(cluster, 'n')).toEqual(['up', '0 0 97'])
  }
  expect(cluster.starts).toBe(1)
}

test('what could not be written at the mark is as it was', executeThreeTimes)

test('the same if the kernel does not tell what was written', async () => {
  vi.spyOn(WrittenPages, 'watch').mockReturnValue(undefined)
  await executeThreeTimes()
})
