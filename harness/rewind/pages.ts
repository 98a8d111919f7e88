import { closeSync, openSync, readSync } from 'node:fs'
import { pageSize } from '../hold/clock-page.ts'
import type { Piece, Run } from '../hold/memory.ts'

/** Bits of an entry of /proc/P/pagemap (admin-guide/mm/pagemap), of its upper half. */
const present = 0x8000_0000
const swapped = 0x4000_0000
const ofFile = 0x2000_0000

const entrySize = 8
const entriesPerRead = 1 << 16
const entries = new Uint32Array(2 * entriesPerRead)

/** The pages of these regions that are neither untouched nor as they are in a file, one run where they follow each other. */
export const ownPages = (pid: number, regions: readonly Run[]): Run[] => {
  const map = openSync(`/proc/${pid}/pagemap`, 'r')
  try {
    return regions.flatMap(region => ownPagesOf(map, region))
  } finally {
    closeSync(map)
  }
}

const ownPagesOf = (map: number, { start, end }: Run): Run[] => {
  const runs: Run[] = []
  let begun = -1
  let address = start
  while (address < end) {
    const count = Math.min((end - address) / pageSize, entriesPerRead)
    const bytes = readSync(map, entries, 0, count * entrySize, (address / pageSize) * entrySize)
    if (bytes === 0) break
    for (let index = 0; index < bytes / entrySize; index++, address += pageSize) {
      const high = entries[2 * index + 1]!
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

/** The parts of pieces that lie outside some addresses; both in order of address. */
export const piecesWithout = (pieces: readonly Piece[], others: readonly Run[]): Piece[] => {
  let index = 0
  return without(pieces, others).map(({ start, end }) => {
    while (pieces[index]!.end <= start) index++
    const { start: from, bytes } = pieces[index]!
    return { start, end, bytes: bytes.subarray(start - from, end - from) }
  })
}
