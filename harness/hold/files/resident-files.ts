import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import koffi from 'koffi'
import { libc } from '../../../linux/libc.ts'
import type { HeldProcess } from '../held/held-node.ts'

/**
 * Files that programs open stay in memory from then on. While a thread waits for the disk others continue, in another
 * order than if the page were in memory, and the kernel drops pages that nobody has read for a while. For example, a
 * JVM constantly reads classes from a file of 130 MB. If one page of it is missing, its compilers work earlier than in
 * the previous execution.
 */

const mmap = libc.func('void *mmap(void *address, size_t length, int protection, int flags, int fd, long offset)')
const munmap = libc.func('int munmap(void *address, size_t length)')
const mlock = libc.func('int mlock(void *address, size_t length)')
const madvise = libc.func('int madvise(void *address, size_t length, int advice)')
const protectionRead = 1
const mapShared = 1
const failed = 2n ** 64n - 1n // MAP_FAILED
/** MADV_POPULATE_READ */
const populate = 22

/** Share of the initially free memory that such files may keep. With more, none would be left for the nodes. */
const memoryShare = 1 / 8
/**
 * Each file is a mapping of this process, and the kernel allows 65,530. With fewer, large programs would still wait for
 * disks.
 */
const filesMax = 20_000
/** Limit on paths that were looked up. Most do not exist, and a program may try any number. */
const pathsMax = 100_000

const paths = new Set<string>()
let files = 0
let bytesLeft: number | undefined

/** Keeps the program itself and its loader, which nobody opens. Call it when only these have been mapped. */
export const keepProgram = (process: HeldProcess): void => {
  const maps = readFileSync(`/proc/${process.pid}/maps`, 'utf8')
  for (const [, path] of maps.matchAll(/ (\/.*)$/gm)) keepFile(process, path!)
}

/**
 * Keeps a file that a process is about to read. Files of containers have no path here, so the kernel decides on them.
 */
export const keepFile = (process: HeldProcess, path: string): void => {
  if (process.node.isContainer || paths.size >= pathsMax) return
  try {
    const own = isAbsolute(path) ? path : join(readlinkSync(`/proc/${process.pid}/cwd`), path)
    if (paths.has(own)) return
    paths.add(own)
    // If a node has another file in this place, as in /tmp, that file is in memory anyway.
    if (statSync(own, { throwIfNoEntry: false })?.isFile() && files < filesMax) keep(own)
  } catch {
    // The file may not be read, or the process has ended. Threads that need it will wait for the disk.
  }
}

const keep = (path: string): void => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { size } = fstatSync(fd)
    bytesLeft ??= process.availableMemory() * memoryShare
    if (size === 0 || size > bytesLeft) return
    const address = mmap(null, size, protectionRead, mapShared, fd, 0)
    if (koffi.address(address) === failed) return
    if (mlock(address, size) === 0) {
      files += 1
      bytesLeft -= size
    } else {
      // An ordinary user may lock little memory, so the file is only read, and nobody waits for it soon.
      madvise(address, size, populate)
      munmap(address, size)
    }
  } finally {
    closeSync(fd)
  }
}
