import { readKernelFile } from '../../../linux/kernel-file.ts'

/** A range of addresses with one mapping. */
export interface Region {
  readonly start: number
  readonly end: number
  /** `rw-p` */
  readonly access: string
  /** Device and inode of the mapped file; empty for anonymous memory. */
  readonly file: string
  /** The file's path, as the process knows it. */
  readonly path: string
  /** Offset in the file. */
  readonly offset: number
}

/** Whether writes of others to the same memory are seen there. */
export const isShared = ({ access }: Region): boolean => access[3] === 's'

export const isSharedToWrite = (region: Region): boolean => isShared(region) && region.access[1] === 'w'

/** Regions of the kernel, which stay the same for the life of the process. */
const ofKernel = /^\[v/

/** Lines of /proc/P/maps: `start-end access offset device inode path`. */
export const regionsOf = (pid: number): Region[] => regionsIn(mapsOf(pid))

export const mapsOf = (pid: number): string => readKernelFile(`/proc/${pid}/maps`)

/** Parses such lines. */
export const regionsIn = (maps: string): Region[] => {
  const regions: Region[] = []
  for (const line of maps.split('\n')) {
    const found = /^([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) (\S+) (\d+)\s*(.*)$/.exec(line)
    if (found === null || ofKernel.test(found[7]!)) continue
    regions.push({
      start: Number.parseInt(found[1]!, 16),
      end: Number.parseInt(found[2]!, 16),
      access: found[3]!,
      offset: Number.parseInt(found[4]!, 16),
      // The first segment of System V has inode 0 too.
      file: found[5] === '00:00' && found[6] === '0' ? '' : `${found[5]} ${found[6]}`,
      path: found[7]!,
    })
  }
  return regions
}

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
