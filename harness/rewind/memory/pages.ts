import { closeSync, openSync, readSync } from 'node:fs'
import type { AddressRange, Piece } from '../../../linux/memory.ts'
import { pageSize } from '../../hold/clock/clock-page.ts'

/** Bits of an entry of /proc/P/pagemap (admin-guide/mm/pagemap), of its upper half. */
const present = 0x8000_0000
const swapped = 0x4000_0000
const ofFile = 0x2000_0000
/** Of the lower half of an entry of a swapped page: where it is. From this number on that is no swap device. */
const swapDevice = 31
const noSwapDevice = 23

const entrySize = 8
const entriesPerRead = 1 << 16
const entries = new Uint32Array(2 * entriesPerRead)

/**
 * Pages of these regions that are neither untouched nor as in a file. Adjacent ones form one range. Empty pages whose writes
 * the kernel reports look like swapped ones, apart from their device.
 */
export const ownPages = (pid: number, regions: readonly AddressRange[]): AddressRange[] => {
  const map = openSync(`/proc/${pid}/pagemap`, 'r')
  try {
    return regions.flatMap(region => ownPagesOf(map, region))
  } finally {
    closeSync(map)
  }
}

const ownPagesOf = (map: number, { start, end }: AddressRange): AddressRange[] => {
  const runs: AddressRange[] = []
  let begun = -1
  let address = start
  while (address < end) {
    const count = Math.min((end - address) / pageSize, entriesPerRead)
    const bytes = readSync(map, entries, 0, count * entrySize, (address / pageSize) * entrySize)
    if (bytes === 0) break
    for (let index = 0; index < bytes / entrySize; index++, address += pageSize) {
      const high = entries[2 * index + 1]!
      // Nearly all entries are of untouched pages.
      if (high === 0 && begun === -1) continue
      const isSwapped = (high & swapped) !== 0 && (entries[2 * index]! & swapDevice) < noSwapDevice
      const isOwn = ((high & present) !== 0 || isSwapped) && (high & ofFile) === 0
      if (isOwn && begun === -1) begun = address
      if (isOwn || begun === -1) continue
      runs.push({ start: begun, end: address })
      begun = -1
    }
  }
  if (begun !== -1) runs.push({ start: begun, end: address })
  return runs
}

/** How long ranges are together. */
export const lengthInAll = (runs: readonly AddressRange[]): number =>
  runs.reduce((sum, { start, end }) => sum + end - start, 0)

/** The parts of `runs` outside of `others`; both in order of address. */
export const without = (runs: readonly AddressRange[], others: readonly AddressRange[]): AddressRange[] => {
  const rest: AddressRange[] = []
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

/** The parts of pieces outside of some addresses; both in order of address. */
export const piecesWithout = (pieces: readonly Piece[], others: readonly AddressRange[]): Piece[] => {
  let index = 0
  return without(pieces, others).map(({ start, end }) => {
    while (pieces[index]!.end <= start) index++
    const piece = pieces[index]!
    // Most pieces are whole. They stay the same objects, which is cheaper, and tells that they are equal.
    if (piece.start === start && piece.end === end) return piece
    return { start, end, bytes: piece.bytes.subarray(start - piece.start, end - piece.start) }
  })
}

/** The union of these ranges, which may overlap, in order of address. */
export const unite = (...lists: readonly (readonly AddressRange[])[]): AddressRange[] => {
  const united: { start: number; end: number }[] = []
  for (const { start, end } of lists.flat().sort((one, other) => one.start - other.start)) {
    const last = united.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else united.push({ start, end })
  }
  return united
}

/** The parts of `runs` inside of `others`; both in order of address. */
export const inside = (runs: readonly AddressRange[], others: readonly AddressRange[]): AddressRange[] => {
  const found: AddressRange[] = []
  let j = 0
  for (const { start, end } of runs) {
    while (j < others.length && others[j]!.end <= start) j++
    for (let k = j; k < others.length && others[k]!.start < end; ) {
      const from = Math.max(start, others[k]!.start)
      let to = others[k]!.end
      for (k++; k < others.length && others[k]!.start <= to; k++) to = Math.max(to, others[k]!.end)
      found.push({ start: from, end: Math.min(end, to) })
    }
  }
  return found
}

/** The parts of pieces inside of some addresses; both in order of address. */
export const piecesInside = (pieces: readonly Piece[], others: readonly AddressRange[]): Piece[] =>
  piecesWithout(pieces, without(pieces, others))

/**
 * Where two lists of pieces, in order of address, do not share the same bytes: replaced pieces, and pieces of only one
 * list.
 */
export const changesBetween = (ones: readonly Piece[], others: readonly Piece[]): AddressRange[] => {
  const changes: AddressRange[] = []
  let [i, j, at] = [0, 0, 0]
  while (i < ones.length || j < others.length) {
    const [one, other] = [ones[i], others[j]]
    if (one === other) {
      i++
      j++
      continue
    }
    const start = Math.max(at, Math.min(one?.start ?? never, other?.start ?? never))
    const end = Math.min(borderAfter(one, start), borderAfter(other, start))
    if (!isSameMemory(covering(one, start), covering(other, start))) changes.push({ start, end })
    if (one?.end === end) i++
    if (other?.end === end) j++
    at = end
  }
  return changes
}

const never = Number.POSITIVE_INFINITY

/** Where a piece begins or ends after an address. */
const borderAfter = (piece: Piece | undefined, address: number): number =>
  piece === undefined ? never : piece.start > address ? piece.start : piece.end

const covering = (piece: Piece | undefined, address: number): Piece | undefined =>
  piece !== undefined && piece.start <= address ? piece : undefined

/** Whether they are views of the same buffer at the same distance. */
const isSameMemory = (one: Piece | undefined, other: Piece | undefined): boolean => {
  if (one === undefined || other === undefined) return one === other
  return (
    one.bytes.buffer === other.bytes.buffer && one.bytes.byteOffset - one.start === other.bytes.byteOffset - other.start
  )
}
