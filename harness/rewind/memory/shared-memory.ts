import { closeSync, constants, openSync } from 'node:fs'
import { isShared, isSharedToWrite, type Region, regionsOf } from '../../../linux/memory.ts'
import { isInOverlay } from '../../../linux/mounts.ts'
import { CannotRewind } from '../calls/error.ts'
import { putBack, type SparseContent, sparseContentOf } from './sparse-content.ts'

/** What processes of a node share at one instant: by device and inode, once for all that map it. */
export type SharedMark = ReadonlyMap<string, SparseContent>

/** A process, and what it maps. */
export interface MappedMemory {
  readonly pid: number
  readonly regions: readonly Region[]
}

/**
 * Memory that processes of a node share with each other: anonymous memory, segments of System V, memfd, and files that were removed
 * while they were mapped. Files that still have a name are brought back with the disk that they are on.
 */
export class SharedMemory {
  #last: SharedMark = new Map()

  /**
   * @param mapped by the frozen processes of the node
   *
   * @param segments of System V that the node has
   *
   * @throws CannotRewind
   */
  mark(mapped: readonly MappedMemory[], segments: number): SharedMark {
    const attached = mapped.flatMap(({ regions }) => regions.filter(isSegment).map(({ file }) => file))
    if (new Set(attached).size !== segments) throw new CannotRewind('it has memory of System V that it does not map')
    const contents = new Map<string, SparseContent>()
    for (const { pid, regions } of mapped)
      for (const region of regions.filter(isShared)) {
        if (contents.has(region.file) || hasName(pid, region)) continue
        contents.set(
          region.file,
          withObject(pid, region, fd => sparseContentOf(fd, this.#last.get(region.file))),
        )
      }
    this.#last = contents
    return contents
  }

  /** Call it once the processes map what they did at the mark. @throws CannotRewind */
  rewind(mark: SharedMark, pids: readonly number[]): void {
    if (mark.size === 0) return
    const left = new Map(mark)
    for (const pid of pids)
      for (const region of regionsOf(pid)) {
        const content = left.get(region.file)
        if (content === undefined) continue
        withObject(pid, region, fd => putBack(fd, content))
        left.delete(region.file)
      }
    if (left.size > 0) throw new CannotRewind('it no longer maps memory that it shared')
    this.#last = mark
  }
}

const isSegment = ({ path }: Region): boolean => path.startsWith('/SYSV')

/** How the kernel shows the path of a file that has no name any more, or never had one. */
const removed = / \(deleted\)$/

/** Its files in memory are brought back too. */
const inMemory = '/dev/shm/'

/** Whether it is a file that is brought back by its name, or that nobody writes to by this mapping. @throws CannotRewind */
const hasName = (pid: number, region: Region): boolean => {
  const { path } = region
  if (removed.test(path)) return false
  if (!isSharedToWrite(region) || path.startsWith(inMemory) || isOnOwnDisk(pid, path)) return true
  throw new CannotRewind(`it shares memory by ${path || 'something without a name'}`)
}

const isOnOwnDisk = (pid: number, path: string): boolean => {
  try {
    return isInOverlay(`/proc/${pid}/root${path}`)
  } catch {
    return false
  }
}

/** Opens what is mapped there. The kernel allows that only with the rights of an administrator. @throws CannotRewind */
const withObject = <Result>(pid: number, { start, end }: Region, use: (fd: number) => Result): Result => {
  let fd: number
  try {
    fd = openSync(`/proc/${pid}/map_files/${start.toString(16)}-${end.toString(16)}`, constants.O_RDWR)
  } catch (error) {
    throw new CannotRewind(`it shares memory, which cannot be opened: ${(error as NodeJS.ErrnoException).code}`)
  }
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}
