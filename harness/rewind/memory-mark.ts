import type { HeldThread } from '../hold/held-node.ts'
import type { ProcessMemory, Run } from '../hold/memory.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { type Call, makeCalls, succeed } from './batch.ts'
import { CannotRewind } from './error.ts'
import { ownPages, without } from './pages.ts'
import { type Difference, differences, isSameContent, type Region, regionsOf } from './regions.ts'

/** Marks are kept in memory: a process that has more of its own is started anew instead. */
const bytesMax = 256 << 20
const dontNeed = 4
const privateAnonymousFixed = 0x02 | 0x20 | 0x10

/** What stood on pages of a process's own. */
interface Copy {
  /** In order of address. */
  readonly runs: readonly Run[]
  /** Of one run after the other. */
  readonly bytes: Buffer
}

/** The memory of a frozen process. */
export class MemoryMark {
  readonly #pid: number
  readonly #regions: readonly Region[]
  /** Of what it may write to, and of the rest: that may have been different for a time. */
  readonly #writable: Copy
  readonly #protected: Copy
  readonly #breakAddress: number

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
  }

  /** The thread is one of its process; what it did is gone afterwards. */
  rewind(thread: HeldThread): void {
    const { memory } = thread.process
    makeCalls(thread, [[syscallNumber.brk, this.#breakAddress]])
    const now = regionsOf(this.#pid)
    assertOwn(now)
    const mend = differences(this.#regions, now).flatMap(mendingCall)
    const forget = this.#pagesToForget(now).map(({ start, end }) => [
      syscallNumber.madvise,
      start,
      end - start,
      dontNeed,
    ])
    succeed(thread, [...mend, ...forget])
    memory.writeAll(this.#writable.runs, this.#writable.bytes)
    let offset = 0
    for (const { start, end } of this.#protected.runs) {
      memory.write(start, this.#protected.bytes.subarray(offset, offset + end - start))
      offset += end - start
    }
  }

  /** What was written to where nothing had been. */
  #pagesToForget(now: readonly Region[]): Run[] {
    const written = ownPages(this.#pid, now.filter(isWritable))
    const before = intersection(written, this.#regions)
    return without(without(before, this.#writable.runs), this.#protected.runs)
  }
}

const isWritable = ({ access }: Region) => access[1] === 'w'

const assertOwn = (regions: readonly Region[]) => {
  if (regions.some(({ access }) => access[1] === 'w' && access[3] === 's')) throw new CannotRewind('it shares memory')
}

const copyPages = (pid: number, regions: readonly Region[], memory: ProcessMemory): Copy => {
  const runs = ownPages(pid, regions)
  const length = runs.reduce((sum, { start, end }) => sum + end - start, 0)
  if (length > bytesMax) throw new CannotRewind(`it has ${Math.round(length / 2 ** 20)} MB of memory`)
  return { runs, bytes: Buffer.concat(runs.map(({ start, end }) => memory.read(start, end - start))) }
}

/** What is in both; each in order of address. */
const intersection = (runs: readonly Run[], others: readonly Run[]): Run[] => without(runs, without(runs, others))

const mendingCall = ({ start, end, before, now }: Difference): Call[] => {
  const length = end - start
  if (before === undefined) return [[syscallNumber.munmap, start, length]]
  const protection = protectionOf(before)
  if (now !== undefined && isSameContent(before, now)) return [[syscallNumber.mprotect, start, length, protection]]
  if (before.file !== '') throw new CannotRewind('it no longer maps a file that it had mapped')
  return [[syscallNumber.mmap, start, length, protection, privateAnonymousFixed, -1, 0]]
}

const protectionOf = ({ access }: Region): number =>
  (access[0] === 'r' ? 1 : 0) | (access[1] === 'w' ? 2 : 0) | (access[2] === 'x' ? 4 : 0)
