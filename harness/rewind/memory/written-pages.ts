import { closeSync, openSync } from 'node:fs'
import koffi from 'koffi'
import { duplicate } from '../../../linux/descriptor.ts'
import { close, ioctl, requireSuccess } from '../../../linux/libc.ts'
import type { AddressRange } from '../../../linux/memory.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import type { HeldThread } from '../../hold/held/held-node.ts'
import { makeCalls } from '../calls/batch.ts'
import { inside, unite, without } from './pages.ts'

const closeOnExec = 0o2000000
const nonBlocking = 0o4000
const userModeOnly = 1

/** linux/userfaultfd.h */
const UFFDIO_API = 0xc018_aa3f
const UFFDIO_REGISTER = 0xc020_aa00
const apiVersion = 0xaan
const asynchronous = 1n << 15n
const writeProtect = 2n

/** linux/fs.h */
const PAGEMAP_SCAN = 0xc060_6610
const protectMatching = 1n
/** Categories of pages. */
const watched = 1n
const written = 2n
const ofFile = 4n
const present = 8n
const swapped = 16n
/** In struct pm_scan_arg. */
const walkEndOffset = 32

/** The end of the addresses that a program can use. */
const addressMax = 0x7fff_ffff_f000n
/** Largest region that is watched. The kernel's notes take eight bytes per page, so larger regions cost more memory. */
const watchedMax = 1 << 30

/**
 * Which pages of a process were written. The kernel write-protects them, lets writes happen nevertheless, and reports
 * which pages are no longer protected (userfaultfd's asynchronous write protection and PAGEMAP_SCAN, since Linux 6.7).
 */
export class WrittenPages {
  readonly #pid: number
  readonly #faults: number
  /** Watched ranges, in order of address. Some may no longer be mapped. */
  watched: readonly AddressRange[]

  private constructor(pid: number, faults: number, watched: readonly AddressRange[]) {
    this.#pid = pid
    this.#faults = faults
    this.watched = watched
  }

  /**
   * Watches regions of a frozen process, except those that are too large; undefined if the kernel cannot or may not.
   * The thread's registers are lost.
   *
   * @param regions in order of address
   */
  static watch(thread: HeldThread, regions: readonly AddressRange[]): WrittenPages | undefined {
    const faults = openFaults(thread)
    if (faults === undefined) return undefined
    const { pid, memory } = thread.process
    memory.closeToo(faults)
    const pages = new WrittenPages(pid, faults, [])
    pages.watchToo(regions)
    pages.forget()
    return pages
  }

  /** Watches more regions, except those that are too large. */
  watchToo(regions: readonly AddressRange[]): void {
    const more = regions.filter(region => region.end - region.start <= watchedMax && register(this.#faults, region))
    this.watched = unite(this.watched, more)
  }

  /**
   * The watched ranges that were neither written, dropped nor mapped anew since the last `forget`, in order of address.
   * Ranges that are no longer mapped cease to be watched.
   *
   * @param mapped the process's present mappings, in order of address
   */
  unchanged(mapped: readonly AddressRange[]): AddressRange[] {
    const found = withPages(this.#pid, look)
    // The kernel also watches growth of a watched region, but its former content is unknown to us.
    const known = unite(inside(this.watched, mapped))
    // Ranges that were mapped anew are not watched yet.
    this.watched = known
    const anew = without(known, found)
    const failed = anew.filter(run => !register(this.#faults, run))
    if (failed.length > 0) this.watched = without(known, failed)
    return inside(
      found.filter(({ isWritten }) => !isWritten),
      this.watched,
    )
  }

  /** Pages in these ranges that belong to the process alone and not to a file, in order of address. */
  ownIn(ranges: readonly AddressRange[]): AddressRange[] {
    const own = withPages(this.#pid, pages => together(ranges).flatMap(range => lookForOwn(pages, range)))
    return inside(unite(own), ranges)
  }

  /** Marks all pages as unchanged. */
  forget(): void {
    withPages(this.#pid, protect)
  }
}

/**
 * Like `ownPages`, for a region of any size: a sanitizer maps terabytes, of which it uses little. Undefined if the kernel
 * cannot tell.
 */
export const ownPagesOfLarge = (pid: number, region: AddressRange): AddressRange[] | undefined => {
  try {
    return withPages(pid, pages => inside(unite(lookForOwn(pages, region)), [region]))
  } catch {
    return undefined
  }
}

/** Opens a descriptor for the process's writes in this process only; the traced process has none. */
const openFaults = (thread: HeldThread): number | undefined => {
  const [fd] = makeCalls(thread, [[syscallNumber.userfaultfd, closeOnExec | nonBlocking | userModeOnly]])
  if (fd! < 0) return undefined
  const faults = duplicate(thread.process.pid, fd!)
  makeCalls(thread, [[syscallNumber.close, fd!]])
  if (faults === undefined) return undefined
  const request = structure(apiVersion, asynchronous, 0n)
  if (ioctl(faults, UFFDIO_API, request) === 0) return faults
  close(faults)
  return undefined
}

const register = (faults: number, { start, end }: AddressRange): boolean =>
  ioctl(faults, UFFDIO_REGISTER, structure(BigInt(start), BigInt(end - start), writeProtect, 0n)) === 0

/** Regions that one PAGEMAP_SCAN returns at most; the rest is scanned by further calls. */
const regionsMax = 4096
/** struct page_region: start, end, categories. */
const regionLength = 24
const regions = Buffer.alloc(regionsMax * regionLength)
const regionsAddress: bigint = koffi.address(regions)

interface Scanned extends AddressRange {
  readonly isWritten: boolean
}

/** Which pages are watched, and whether each was written. */
const look = (pages: number): Scanned[] => lookFor(pages, everywhere, { having: watched })

const lookForOwn = (pages: number, range: AddressRange): Scanned[] =>
  lookFor(pages, range, { having: ofFile, inverted: ofFile, havingOneOf: present | swapped })

const everywhere: AddressRange = { start: 0, end: Number(addressMax) }

/** Asking once more takes as long as looking through this many bytes of pages. */
const gapMax = 1 << 18

/** Few ranges that cover these and what is between near ones. */
const together = (ranges: readonly AddressRange[]): AddressRange[] => {
  const wide: { start: number; end: number }[] = []
  for (const { start, end } of ranges) {
    const last = wide.at(-1)
    if (last !== undefined && start - last.end < gapMax) last.end = end
    else wide.push({ start, end })
  }
  return wide
}

const lookFor = (
  pages: number,
  { start, end: to }: AddressRange,
  what: Pick<Scan, 'having' | 'inverted' | 'havingOneOf'>,
) => {
  const found: Scanned[] = []
  for (let from = BigInt(start); from < to; ) {
    const { count, end } = scan(pages, { ...what, from, to: BigInt(to), flags: 0n, room: regionsMax })
    from = end
    for (let at = 0; at < count * regionLength; at += regionLength) {
      const isWritten = (regions.readUInt32LE(at + 16) & Number(written)) !== 0
      found.push({ start: addressAt(at), end: addressAt(at + 8), isWritten })
    }
  }
  return found
}

/** Addresses have 48 bits. */
const addressAt = (at: number): number => regions.readUIntLE(at, 6)

const protect = (pages: number) =>
  scan(pages, { from: 0n, to: addressMax, flags: protectMatching, having: written, room: 0 })

interface Scan {
  readonly from: bigint
  readonly to: bigint
  readonly flags: bigint
  /** Categories of the pages to find: all of these, and one of `havingOneOf`. */
  readonly having: bigint
  readonly havingOneOf?: bigint
  /** Categories whose absence counts as presence. */
  readonly inverted?: bigint
  /** How many regions fit into the buffer. */
  readonly room: number
}

/** Scans pages: the regions found, and where the scan ended. */
const scan = (pages: number, { from, to, flags, having, havingOneOf = 0n, inverted = 0n, room }: Scan) => {
  const place = room === 0 ? 0n : regionsAddress
  const found = watched | written
  const categories = [inverted, having, havingOneOf, found]
  const request = structure(96n, flags, from, to, 0n, place, BigInt(room), 0n, ...categories)
  const count = requireSuccess('ioctl(PAGEMAP_SCAN)', ioctl(pages, PAGEMAP_SCAN, request))
  return { count, end: request.readBigUInt64LE(walkEndOffset) }
}

const withPages = <Result>(pid: number, use: (pages: number) => Result): Result => {
  const pages = openSync(`/proc/${pid}/pagemap`, 'r')
  try {
    return use(pages)
  } finally {
    closeSync(pages)
  }
}

const structure = (...fields: readonly bigint[]): Buffer => Buffer.from(BigUint64Array.from(fields).buffer)
