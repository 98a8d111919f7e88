import type { HeldThread } from '../hold/held-node.ts'
import type { Piece, ProcessMemory, Run } from '../hold/memory.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { type Call, makeCalls, succeed } from './batch.ts'
import { CannotRewind } from './error.ts'
import { changesBetween, inside, ownPages, piecesInside, piecesWithout, unite, without } from './pages.ts'
import { type Difference, differences, isSameContent, type Region, regionsOf } from './regions.ts'
import { WrittenPages } from './written-pages.ts'

/** Marks are kept in memory: a process that has more of its own, or has written more since its last mark, is not marked. */
const bytesMax = 256 << 20
const dontNeed = 4
const privateFixed = 0x02 | 0x10
const privateAnonymousFixed = privateFixed | 0x20
const readOnly = 0

/** The memory of a frozen process at one instant. What was not written to since the mark before, the two have in common. */
export interface MemoryMark {
  readonly regions: readonly Region[]
  readonly breakAddress: number
  /** What stood on its own pages, in order of address. */
  readonly content: readonly Piece[]
  /** Where the kernel tells what was written to, in order of address. */
  readonly watched: readonly Run[]
  /** Bytes that no mark before it has. */
  readonly bytes: number
}

/**
 * The memory of one process, with the mark that it was at last: made, or brought back to. What was written to since then is
 * what has to be copied for the next mark, and put back.
 */
export class MarkedMemory {
  readonly #pid: number
  readonly #memory: ProcessMemory
  /** Undefined where the kernel does not tell. */
  #written: WrittenPages | undefined
  #last: MemoryMark | undefined

  constructor({ pid, memory }: HeldThread['process']) {
    this.#pid = pid
    this.#memory = memory
  }

  /** Marks it. The thread, one of its process, loses its registers. @throws CannotRewind */
  mark(thread: HeldThread): MemoryMark {
    const breakAddress = makeCalls(thread, [[syscallNumber.brk, 0]])[0]!
    const regions = regionsOf(this.#pid)
    assertOwn(regions)
    const mark = this.#last && this.#written ? this.#markNext(this.#last, regions) : this.#markWhole(thread, regions)
    this.#last = { ...mark, regions, breakAddress }
    return this.#last
  }

  #markWhole(thread: HeldThread, regions: readonly Region[]): Pick<MemoryMark, 'content' | 'watched' | 'bytes'> {
    const content = this.#copy(ownPages(this.#pid, regions))
    this.#written ??= WrittenPages.watch(thread, regions.filter(isWorthWatching(content)))
    return { content, watched: this.#written?.watched ?? [], bytes: lengthOf(content) }
  }

  #markNext(last: MemoryMark, regions: readonly Region[]): Pick<MemoryMark, 'content' | 'watched' | 'bytes'> {
    const written = this.#written!
    const unchanged = written.unchanged(regions)
    const common = piecesInside(last.content, unchanged)
    // What is unchanged and not among it was empty, or as in its file, at the mark before: so it is now. The kernel counts
    // empty pages that it protects as own ones: a stack of 8 MB, of which little was ever used, would be copied as a whole.
    const copied = this.#copy(without(inside(written.own(), regions), unchanged))
    const content = [...common, ...copied].sort(byAddress)
    written.watchToo(without(regions.filter(isWorthWatching(copied)), written.watched))
    written.forget()
    return { content, watched: written.watched, bytes: lengthOf(copied) }
  }

  #copy(runs: readonly Run[]): Piece[] {
    const length = lengthOf(runs)
    if (length > bytesMax) throw new CannotRewind(`it has ${Math.round(length / 2 ** 20)} MB of memory`)
    return runs.map(({ start, end }) => ({ start, end, bytes: this.#memory.read(start, end - start) }))
  }

  /** Brings it back to one of its marks. The thread is one of its process; what it did is gone afterwards. @throws CannotRewind */
  rewind(thread: HeldThread, mark: MemoryMark): void {
    makeCalls(thread, [[syscallNumber.brk, mark.breakAddress]])
    const { now, changes } = this.#lookWithLostFiles(thread, mark)
    assertOwn(now)
    succeed(thread, changes.flatMap(mendingCall))
    const others = inside(this.#others(mark, now), mark.regions)
    succeed(thread, without(others, mark.content).map(forgettingCall))
    const pieces = piecesInside(mark.content, others)
    const writable = mark.regions.filter(isWritable)
    this.#memory.writeAll(piecesInside(pieces, writable))
    for (const { start, bytes } of piecesWithout(pieces, writable)) this.#memory.write(start, bytes)
    if (this.#written) this.#written.watched = mark.watched
    this.#written?.forget()
    this.#last = mark
  }

  /** Where something else stands than at a mark, or may stand, in order of address. */
  #others(mark: MemoryMark, now: readonly Region[]): Run[] {
    const last = this.#last!
    const between = mark === last ? [] : changesBetween(last.content, mark.content)
    if (this.#written === undefined) return unite(between, mark.content, ownPages(this.#pid, now.filter(isWritable)))
    this.#written.watched = unite(this.#written.watched, mark.watched)
    const unchanged = this.#written.unchanged(mark.regions)
    const { watched } = this.#written
    const unwatched = without(mark.regions.filter(isWritable), watched)
    return unite(
      between,
      without(watched, unchanged),
      ownPages(this.#pid, unwatched),
      inside(mark.content, without(mark.regions, watched)),
    )
  }

  /** The same as `look`, when the files are mapped again that it no longer maps. */
  #lookWithLostFiles(thread: HeldThread, mark: MemoryMark) {
    const found = this.#look(mark)
    const lost = found.changes.filter(hasLostFile)
    for (const difference of lost) mapAgain(thread, difference)
    return lost.length > 0 ? this.#look(mark) : found
  }

  /** What is mapped, and where that is not what was. */
  #look({ regions }: MemoryMark) {
    const now = regionsOf(this.#pid)
    return { now, changes: differences(regions, now) }
  }
}

const isWritable = ({ access }: Region) => access[1] === 'w'

/** What can be written to, and what has own pages and may have been writable for a time, when it was or will be written to. */
const isWorthWatching =
  (own: readonly Piece[]) =>
  (region: Region): boolean =>
    isWritable(region) || own.some(({ start }) => region.start <= start && start < region.end)

const assertOwn = (regions: readonly Region[]) => {
  if (regions.some(({ access }) => access[1] === 'w' && access[3] === 's')) throw new CannotRewind('it shares memory')
}

const lengthOf = (runs: readonly Run[]): number => runs.reduce((sum, { start, end }) => sum + end - start, 0)

const byAddress = (one: Run, other: Run) => one.start - other.start

/** What was written to where nothing had been is empty again. */
const forgettingCall = ({ start, end }: Run): Call => [syscallNumber.madvise, start, end - start, dontNeed]

const hasLostFile = ({ before, now }: Difference): boolean =>
  before !== undefined && before.file !== '' && (now === undefined || !isSameContent(before, now))

/** Maps a part of a file where it was, as far as the process still finds it. */
const mapAgain = (thread: HeldThread, { start, end, before }: Difference): void => {
  const { path, offset, start: begin } = before!
  const [fd] = makeCalls(thread, [[syscallNumber.open, Buffer.from(`${path}\0`), readOnly, 0]])
  if (fd! < 0) return
  const protection = protectionOf(before!)
  makeCalls(thread, [
    [syscallNumber.mmap, start, end - start, protection, privateFixed, fd!, offset + start - begin],
    [syscallNumber.close, fd!],
  ])
}

const mendingCall = ({ start, end, before, now }: Difference): Call[] => {
  const length = end - start
  if (before === undefined) return [[syscallNumber.munmap, start, length]]
  const protection = protectionOf(before)
  if (now !== undefined && isSameContent(before, now)) return [[syscallNumber.mprotect, start, length, protection]]
  if (before.file !== '') throw new CannotRewind(`it no longer maps ${before.path}`)
  return [[syscallNumber.mmap, start, length, protection, privateAnonymousFixed, -1, 0]]
}

const protectionOf = ({ access }: Region): number =>
  (access[0] === 'r' ? 1 : 0) | (access[1] === 'w' ? 2 : 0) | (access[2] === 'x' ? 4 : 0)
