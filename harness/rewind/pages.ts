import { closeSync, openSync, readSync } from 'node:fs'
import type { Region } from './regions.ts'

export const pageSize = 4096
const entrySize = 8
const entriesPerRead = 1 << 16

/** Addresses from start up to end, whole pages. */
export interface Run {
  readonly start: number
  readonly end: number
}

/** Bits of an entry of /proc/P/pagemap (admin-guide/mm/pagemap), of its upper half. */
const present = 0x8000_0000
const swapped = 0x4000_0000
const ofFile = 0x2000_0000

/** The process's map of pages: which of its addresses have memory of their own. */
export class PageMap {
  readonly #descriptor: number
  readonly #entries = new Uint32Array(2 * entriesPerRead)

  constructor(pid: number) {
    this.#descriptor = openSync(`/proc/${pid}/pagemap`, 'r')
  }

  /** Pages of the region that are neither untouched nor as they are in a file, one run where they follow each other. */
  ownPages(region: Region): Run[] {
    const runs: Run[] = []
    let begun = -1
    let address = region.start
    while (address < region.end) {
      const count = Math.min((region.end - address) / pageSize, entriesPerRead)
      const bytes = readSync(this.#descriptor, this.#entries, 0, count * entrySize, (address / pageSize) * entrySize)
      if (bytes === 0) break
      for (let index = 0; index < bytes / entrySize; index++, address += pageSize) {
        const high = this.#entries[2 * index + 1]!
        const isOwn = (high & (present | swapped)) !== 0 && (high & ofFile) === 0
        if (isOwn && begun === -1) begun = address
        if (isOwn || begun === -1) continue
        runs.push({ start: begun, end: address })
        begun = -1
      }
    }
    if (begun !== -1) runs.push({ start: begun, end: address })
    return runs
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** What of `runs` lies outside `others`; both in order of address. */
export const without = (runs: readonly Run[], others: readonly Run[]): Run[] => {
  const rest: Run[] = []
  let j = 0
  for (const { start, end } of runs) {
    let from = start
    while (j < others.length && others[j]!.end <= from) j++
    for (let k = j; from < end; k++) {
      const other = others[k]
      if (other === undefined || other.start >= end) {
        rest.push({ start: from, end })
        break
      }
      if (other.start > from) rest.push({ start: from, end: other.start })
      from = Math.max(from, other.end)
    }
  }
  return rest
}
