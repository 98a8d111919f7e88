import { closeSync, fsyncSync, openSync, readFileSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { libc } from '../../../linux/libc.ts'
import { clusterOf, directoryWith, stdoutOf } from '../system.ts'

const mmap = libc.func('void *mmap(void *address, size_t length, int protection, int flags, int fd, long offset)')
const munmap = libc.func('int munmap(void *address, size_t length)')
const mincore = libc.func('int mincore(void *address, size_t length, void *pages)')
const dropPages = libc.func('int posix_fadvise(int fd, long offset, long length, int advice)')
const dontNeed = 4
const pageSize = 4096
const length = 512 * pageSize

const withFile = <Result>(path: string, work: (fd: number) => Result): Result => {
  const fd = openSync(path, 'r')
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

/** A file on the disk whose pages are not in memory. */
const write = (path: string) => {
  const fd = openSync(path, 'w')
  writeSync(fd, Buffer.alloc(length, 'a'))
  fsyncSync(fd)
  closeSync(fd)
  takeAway(path)
}

/** What the kernel does with pages that nobody has read for a while. */
const takeAway = (path: string) => withFile(path, fd => dropPages(fd, 0, 0, dontNeed))

/** How many pages of a file are in memory. */
const pagesOf = (path: string): number =>
  withFile(path, fd => {
    const address = mmap(null, length, 1, 1, fd, 0)
    const pages = Buffer.alloc(length / pageSize)
    mincore(address, length, pages)
    munmap(address, length)
    return pages.filter(page => (page & 1) === 1).length
  })

const temporaryFileSystem = 0x0102_1994
const isOnDisk = (directory: string) => statfsSync(directory).type !== temporaryFileSystem

test('files that programs open are in memory as a whole, and stay there', async ({ skip }) => {
  const directory = directoryWith({})
  skip(!isOnDisk(directory), 'temporary files are in memory here')
  const [absolute, relative, other] = ['absolute', 'relative', 'other'].map(name => join(directory, name))
  for (const path of [absolute!, relative!, other!]) write(path)
  const program = `
import os, time
os.chdir(${JSON.stringify(directory)})
print(sum(len(os.read(os.open(path, os.O_RDONLY), 10)) for path in [${JSON.stringify(absolute)}, 'relative']), flush=True)
time.sleep(1e6)`
  const cluster = clusterOf({ nodes: { n: { command: ['/usr/bin/python3', '-c', program], write: [directory] } } })
  expect(await cluster.reset()).toEqual([])
  expect(stdoutOf(cluster, 'n')).toEqual(['20'])
  for (const path of [absolute!, relative!, other!]) takeAway(path)
  expect([absolute!, relative!, other!].map(pagesOf)).toEqual([length / pageSize, length / pageSize, 0])
})

test('a start that had to wait for the disk is done again, and not what others are compared with', async ({ skip }) => {
  const directory = directoryWith({})
  skip(!isOnDisk(directory), 'temporary files are in memory here')
  write(join(directory, 'file'))
  // A file that is opened beside a directory is not kept in memory.
  const program = `
import os, time
directory = os.open(${JSON.stringify(directory)}, os.O_RDONLY | os.O_DIRECTORY)
print(len(os.read(os.open('file', os.O_RDONLY, dir_fd=directory), 10)), flush=True)
open(${JSON.stringify(join(directory, 'starts'))}, 'a').write('start ')
time.sleep(1e6)`
  const cluster = clusterOf({ nodes: { n: { command: ['/usr/bin/python3', '-c', program], write: [directory] } } })
  expect(await cluster.reset()).toEqual([])
  expect(stdoutOf(cluster, 'n')).toEqual(['10'])
  expect(readFileSync(join(directory, 'starts'), 'utf8')).toMatch(/^start start (start )?$/)
  expect(cluster.starts).toBe(1)
})
