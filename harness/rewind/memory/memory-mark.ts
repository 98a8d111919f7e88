import {
  type AddressRange,
  isShared,
  isSharedToWrite,
  mapsOf,
  type Piece,
  type ProcessMemory,
  type Region,
  regionsIn,
} from '../../../linux/memory.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import type { HeldThread } from '../../hold/held/held-node.ts'
import { makeCalls, type RawCall, succeed } from '../calls/batch.ts'
import { CannotRewind } from '../calls/error.ts'
import { changesBetween, inside, lengthInAll, ownPages, piecesInside, piecesWithout, unite, without } from './pages.ts'
import { differences, isSameContent, type MemoryDifference } from './regions.ts'
import { ownPagesOfLarge, WrittenPages } from './written-pages.ts'

/**
 * Limit on the memory of marks. A process with more private memory, or that wrote more since its last mark, is not
 * marked.
 */
const bytesMax = 256 << 20
const dontNeed = 4
const sharedFixed = 0x01 | 0x10
const privateFixed = 0x02 | 0x10
const privateAnonymousFixed = privateFixed | 0x20
const [readOnly, readAndWrite] = [0, 2]

/**
 * The memory of a frozen process at one instant. Pages that were not written since the mark before are shared with it.
 */
export interface MemoryMark {
  readonly regions: readonly Region[]
  readonly breakAddress: number
  /** Content of its private pages, in order of address. */
  readonly content: readonly Piece[]
  /** Ranges in which the kernel reports writes, in order of address. */
  readonly watched: readonly AddressRange[]
  /** Bytes that no earlier mark has. */
  readonly bytes: number
}

/**
 * The memory of one process, and its latest mark: the one last made or rewound to. Pages written since then must be
 * copied for the next mark, and restored by a rewind.
 */
export class MarkedMemory {
  readonly #pid: number
  readonly #memory: ProcessMemory
  /** Undefined if the kernel does not report writes. */
  #written: WrittenPages | undefined
  #last: MemoryMark | undefined
  /** What was mapped when it was last looked at: mostly the same. */
  #mapped: { readonly maps: string; readonly regions: readonly Region[] } | undefined

  constructor({ pid, memory }: HeldThread['process']) {
    this.#pid = pid
    this.#memory = memory
  }

  /**
   * Marks it. The registers of the thread, one of its process, are lost.
   *
   * @param breakAddress result of `breakCall`
   *
   * @throws CannotRewind
   */
  mark(thread: HeldThread, breakAddress: number): MemoryMark {
    const regions = this.#regions()
    const mark = this.#last && this.#written ? this.#markNext(this.#last, regions) : this.#markWhole(thread, regions)
    this.#last = { ...mark, regions, breakAddress }
    return this.#last
  }

  #markWhole(thread: HeldThread, regions: readonly Region[]): Pick<MemoryMark, 'content' | 'watched' | 'bytes'> {
    const content = this.#copy(ownPagesIn(this.#pid, regions))
    this.#written ??= WrittenPages.watch(thread, regions.filter(isWorthWatching(content)))
    return { content, watched: this.#written?.watched ?? [], bytes: lengthInAll(content) }
  }

  #markNext(last: MemoryMark, regions: readonly Region[]): Pick<MemoryMark, 'content' | 'watched' | 'bytes'> {
    const written = this.#written!
    const unchanged = written.unchanged(regions)
    const changes = differences(last.regions, regions)
    const files = without(without(regions.filter(isReadOnlyFile), written.watched), changes)
    const same = unite(unchanged, files)
    const common = piecesInside(last.content, same)
    // Pages that are unchanged and not in the earlier mark were empty, or as in their file, and still are. The kernel
    // counts empty protected pages as private: without this, a stack of 8 MB of which little was ever used would be
    // copied as a whole.
    const own = written.ownIn(without(regions, same))
    const copied = this.#copy(own.flatMap(run => (isLong(run) ? ownPages(this.#pid, [run]) : [run])))
    const content = [...common, ...copied].sort(byAddress)
    written.watchToo(without(regions.filter(isWorthWatching(copied)), written.watched))
    written.forget()
    return { content, watched: written.watched, bytes: lengthInAll(copied) }
  }

  #copy(runs: readonly AddressRange[]): Piece[] {
    const length = lengthInAll(runs)
    if (length > bytesMax) throw new CannotRewind(`it has ${Math.round(length / 2 ** 20)} MB of memory`)
    return runs.map(({ start, end }) => ({ start, end, bytes: this.#memory.read(start, end - start) }))
  }

  /**
   * Rewinds it to one of its marks, through a thread of its process, whose effects are undone too.
   * `breakCallTo(mark)` must have been made.
   *
   * @throws CannotRewind
   */
  rewind(thread: HeldThread, mark: MemoryMark): void {
    const { now, changes } = this.#lookWithLostFiles(thread, mark)
    requireShared(mark.regions, now)
    succeed(thread, changes.flatMap(mendingCall))
    const others = inside(unite(this.#others(mark, now), changes.filter(wasReadOnly)), mark.regions)
    succeed(thread, without(others, mark.content).map(forgettingCall))
    const pieces = piecesInside(mark.content, others)
    const writable = mark.regions.filter(isWritable)
    this.#memory.writeAll(piecesInside(pieces, writable))
    for (const { start, bytes } of piecesWithout(pieces, writable)) this.#memory.write(start, bytes)
    if (this.#written) this.#written.watched = mark.watched
    this.#written?.forget()
    this.#last = mark
  }

  /**
   * Ranges that differ from a mark, or may differ, in order of address. A program may have made memory writable for a
   * time that it had only reserved. A file that it made writable for a time is not noticed, unless it had pages of its
   * own in it.
   */
  #others(mark: MemoryMark, now: readonly Region[]): AddressRange[] {
    const last = this.#last!
    const between = mark === last ? [] : changesBetween(last.content, mark.content)
    if (this.#written === undefined) return unite(between, mark.content, ownPagesIn(this.#pid, now))
    if (mark !== last) this.#written.watched = unite(this.#written.watched, mark.watched)
    const unchanged = this.#written.unchanged(mark.regions)
    const { watched } = this.#written
    const unwatched = (isMeant: (region: Region) => boolean) => without(mark.regions.filter(isMeant), watched)
    return unite(
      between,
      without(watched, unchanged),
      ownPagesIn(this.#pid, unwatched(isWritable)),
      this.#written.ownIn(unwatched(isReserved)),
      inside(mark.content, without(mark.regions, watched)),
    )
  }

  /** Like `look`, after mapping files again that were unmapped. */
  #lookWithLostFiles(thread: HeldThread, mark: MemoryMark) {
    const found = this.#look(mark)
    const lost = found.changes.filter(hasLostFile)
    for (const difference of lost) mapAgain(thread, difference)
    return lost.length > 0 ? this.#look(mark) : found
  }

  /** What is mapped, and what differs from the mark's mappings. */
  #look({ regions }: MemoryMark) {
    const now = this.#regions()
    return { now, changes: differences(regions, now) }
  }

  #regions(): readonly Region[] {
    const maps = mapsOf(this.#pid)
    if (this.#mapped?.maps !== maps) this.#mapped = { maps, regions: regionsIn(maps) }
    return this.#mapped.regions
  }
}

/** Empty pages that the kernel takes for swapped ones come in long ranges: memory that was only reserved. */
const isLong = ({ start, end }: AddressRange): boolean => end - start > 1 << 20

/** Looking at each page of a larger region would take longer than asking the kernel for those in use. */
const largeMin = 1 << 30

const ownPagesIn = (pid: number, regions: readonly AddressRange[]): AddressRange[] => {
  const isLarge = ({ start, end }: AddressRange) => end - start > largeMin
  const large = regions.filter(isLarge)
  const small = ownPages(
    pid,
    regions.filter(region => !isLarge(region)),
  )
  return large.length === 0 ? small : unite(small, ...large.map(region => ownPagesOfOne(pid, region)))
}

const ownPagesOfOne = (pid: number, region: AddressRange): AddressRange[] => {
  const own = ownPagesOfLarge(pid, region)
  if (own === undefined) throw new CannotRewind(`it maps ${Math.round((region.end - region.start) / 2 ** 30)} GB`)
  return own
}

/** Returns where the heap ends. */
export const breakCall: RawCall = [syscallNumber.brk, 0]

/** Lets the heap end where it did. */
export const breakCallTo = ({ breakAddress }: MemoryMark): RawCall => [syscallNumber.brk, breakAddress]

/** Shared memory is brought back elsewhere, once for all who map it. */
const isWritable = (region: Region) => region.access[1] === 'w' && !isShared(region)

const isReserved = (region: Region) => !isWritable(region) && region.file === ''

const isReadOnlyFile = (region: Region) => !isWritable(region) && region.file !== ''

const wasReadOnly = ({ before }: MemoryDifference): boolean => before !== undefined && !isWritable(before)

/** Restoring as many pages takes as long as looking for writes to this many times as many. */
const pagesWatchedForOne = 16

/**
 * Regions that can be written to, or that may be made writable for a time because many of their pages are private. This
 * tool itself changes a few pages of a program's code.
 */
const isWorthWatching =
  (own: readonly Piece[]) =>
  (region: Region): boolean =>
    isWritable(region) || pagesWatchedForOne * lengthInAll(inside(own, [region])) >= region.end - region.start

/** A file that was removed since, and is made again, would be another than the one that is mapped. @throws CannotRewind */
const requireShared = (before: readonly Region[], now: readonly Region[]): void => {
  const paths = new Map(before.filter(isSharedToWrite).map(({ file, path }) => [file, path]))
  for (const { file, path } of now)
    if (paths.has(file) && paths.get(file) !== path)
      throw new CannotRewind(`it has removed ${paths.get(file)}, which it maps`)
}

const byAddress = (one: AddressRange, other: AddressRange) => one.start - other.start

/** Empties memory that was empty at the mark. */
const forgettingCall = ({ start, end }: AddressRange): RawCall => [syscallNumber.madvise, start, end - start, dontNeed]

const hasLostFile = ({ before, now }: MemoryDifference): boolean =>
  before !== undefined && before.file !== '' && (now === undefined || !isSameContent(before, now))

/** Maps a part of a file at its former address, if the process still finds the file. */
const mapAgain = (thread: HeldThread, { start, end, before }: MemoryDifference): void => {
  const { path, offset, start: begin } = before!
  const isWrittenTo = isSharedToWrite(before!)
  const [fd] = makeCalls(thread, [
    [syscallNumber.open, Buffer.from(`${path}\0`), isWrittenTo ? readAndWrite : readOnly, 0],
  ])
  if (fd! < 0) return
  const protection = protectionOf(before!)
  const flags = isWrittenTo ? sharedFixed : privateFixed
  makeCalls(thread, [
    [syscallNumber.mmap, start, end - start, protection, flags, fd!, offset + start - begin],
    [syscallNumber.close, fd!],
  ])
}

const mendingCall = ({ start, end, before, now }: MemoryDifference): RawCall[] => {
  const length = end - start
  if (before === undefined) return [[syscallNumber.munmap, start, length]]
  const protection = protectionOf(before)
  if (now !== undefined && isSameContent(before, now)) return [[syscallNumber.mprotect, start, length, protection]]
  if (before.file !== '') throw new CannotRewind(`it no longer maps ${before.path}`)
  return [[syscallNumber.mmap, start, length, protection, privateAnonymousFixed, -1, 0]]
}

const protectionOf = ({ access }: Region): number =>
  (access[0] === 'r' ? 1 : 0) | (access[1] === 'w' ? 2 : 0) | (access[2] === 'x' ? 4 : 0)
