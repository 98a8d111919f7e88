import type { Region } from '../../../linux/memory.ts'

/** A range of addresses that two mappings map differently. */
export interface MemoryDifference {
  readonly start: number
  readonly end: number
  readonly before: Region | undefined
  readonly now: Region | undefined
}

/**
 * The ranges in which the regions differ, each within one region of either side. Both arguments are in order of
 * address.
 */
export const differences = (before: readonly Region[], now: readonly Region[]): MemoryDifference[] => {
  const found: MemoryDifference[] = []
  if (before === now) return found
  const borders = [...new Set([...before, ...now].flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b)
  let [i, j] = [0, 0]
  for (const [index, start] of borders.entries()) {
    const end = borders[index + 1]
    if (end === undefined) break
    while (i < before.length && before[i]!.end <= start) i++
    while (j < now.length && now[j]!.end <= start) j++
    const one = covering(before[i], start)
    const other = covering(now[j], start)
    if (!isAlike(one, other)) found.push({ start, end, before: one, now: other })
  }
  return found
}

const covering = (region: Region | undefined, address: number) =>
  region !== undefined && region.start <= address ? region : undefined

const isAlike = (one: Region | undefined, other: Region | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.access === other.access && isSameContent(one, other)

/** Whether both map the same bytes of the same file, or anonymous memory. */
export const isSameContent = (one: Region, other: Region): boolean =>
  one.file === other.file && (one.file === '' || one.offset - one.start === other.offset - other.start)
