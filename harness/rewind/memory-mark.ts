import type { HeldThread } from '../hold/held-node.ts'
import type { Piece, ProcessMemory, Run } from '../hold/memory.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { type Call, makeCalls, succeed } from './batch.ts'
import { CannotRewind } from './error.ts'
import { ownPages, piecesWithout, without } from './pages.ts'
import { type Difference, differences, isSameContent, type Region, regionsOf } from './regions.ts'
import { WrittenPages } from './written-pages.ts'

/** Marks are kept in memory: a process that has more of its own is started anew instead. */
const bytesMax = 256 << 20
const dontNeed = 4
const privateFixed = 0x02 | 0x10
const privateAnonymousFixed = privateFixed | 0x20
const readOnly = 0

/** The memory of a frozen process. */
export class MemoryMark {
  readonly #pid: number
  readonly #regions: readonly Region[]
  /** What stood on its own pages of what it may write to, and of the rest: that may have been different for a time. */
  readonly #writable: readonly Piece[]
  readonly #protected: readonly Piece[]
  readonly #breakAddress: number
  readonly #written: WrittenPages | undefined

  /** @throws CannotRewind */
  constructor(thread: HeldThread) {
    const { pid, memory } = thread.process
    this.#pid = pid
    this.#breakAddress = makeCalls(thread, [[syscallNumber.brk, 0]])[0]!
    this.#regions = regionsOf(pid)
    assertOwn(this.#regions)
    this.#writable = copyPages(pid, this.#regions.filter(isWritable), memory)
    this.#protected = copyPages(
      pid,
      this.#regions.filter(region => !isWritable(region)),
      memory,
    )
    this.#written = WrittenPages.watch(
      thread,
      this.#regions.filter(region => isWritable(region) || this.#protected.some(piece => isIn(piece, region))),
    )
  }

  /** The thread is one of its process; what it did is gone afterwards. */
  rewind(thread: HeldThread): void {
    const { memory } = thread.process
    makeCalls(thread, [[syscallNumber.brk, this.#breakAddress]])
    const { now, changes } = this.#lookWithLostFiles(thread)
    assertOwn(now)
    succeed(thread, changes.flatMap(mendingCall))
    const watched = this.#written?.watched ?? []
    const unchanged = this.#written?.unchanged() ?? []
    const unwatched = without(now.filter(isWritable), watched)
    const written = [...without(watched, unchanged), ...ownPages(this.#pid, unwatched)].sort(byAddress)
    succeed(thread, without(without(written, this.#writable), this.#protected).map(forgettingCall))
    memory.writeAll(piecesWithout(this.#writable, unchanged))
    for (const { start, bytes } of piecesWithout(this.#protected, unchanged)) memory.write(start, bytes)
    this.#written?.forget()
  }

  /** The same as `look`, when the files are mapped again that it no longer maps. */
  #lookWithLostFiles(thread: HeldThread) {
    const found = this.#look()
    const lost = found.changes.filter(hasLostFile)
    for (const difference of lost) mapAgain(thread, difference)
    return lost.length > 0 ? this.#look() : found
  }

  /** What is mapped, and where that is not what was. */
  #look() {
    const now = regionsOf(this.#pid)
    return { now, changes: differences(this.#regions, now) }
  }
}

const isWritable = ({ access }: Region) => access[1] === 'w'

const assertOwn = (regions: readonly Region[]) => {
  if (regions.some(({ access }) => access[1] === 'w' && access[3] === 's')) throw new CannotRewind('it shares memory')
}

const copyPages = (pid: number, regions: readonly Region[], memory: ProcessMemory): Piece[] => {
  const runs = ownPages(pid, regions)
  const length = runs.reduce((sum, { start, end }) => sum + end - start, 0)
  if (length > bytesMax) throw new CannotRewind(`it has ${Math.round(length / 2 ** 20)} MB of memory`)
  return runs.map(({ start, end }) => ({ start, end, bytes: memory.read(start, end - start) }))
}

const isIn = (piece: Piece, region: Region): boolean => region.start <= piece.start && piece.start < region.end

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
