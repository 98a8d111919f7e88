import type { DiskOperation, FileId, OperationOf } from './operation.ts'

export const pageBytes = 4096

/** A file that is mapped, and what it contained and contains. */
interface Mapped {
  readonly file: FileId
  readonly path: string
  readonly before: Buffer
  readonly bytes: Buffer
}

/**
 * What was written through memory, as writes of pages. A kernel writes a dirty page back as it is at some time, so a page that was
 * written through memory before, and by no call since, has one write, where it was first written.
 */
export const seenPages = (
  known: readonly DiskOperation[],
  { file, path, before, bytes }: Mapped,
): { readonly merged: readonly DiskOperation[]; readonly operations: readonly DiskOperation[] } => {
  const pages = changedPages(before, bytes)
  const lastCall = known.findLastIndex(each => each.file === file && !isPage(each))
  const found = new Set<number>()
  const merged = known.map((each, index) => {
    if (index < lastCall || each.file !== file || !isPage(each) || !pages.includes(each.offset)) return each
    found.add(each.offset)
    return { ...each, after: pageAt(bytes, each.offset) }
  })
  const operations = pages
    .filter(offset => !found.has(offset))
    .map(offset => ({
      ...{ does: 'write' as const, file, path, offset, isMapped: true as const },
      ...{ before: pageAt(before, offset), after: pageAt(bytes, offset), sizeBefore: bytes.length },
    }))
  return { merged, operations }
}

const isPage = (operation: DiskOperation): operation is OperationOf<'write'> =>
  operation.does === 'write' && operation.isMapped === true

const pageAt = (bytes: Buffer, offset: number): Buffer => Buffer.from(bytes.subarray(offset, offset + pageBytes))

/** Most of a large file is as it was. */
const piece = 64 * pageBytes

/** Where pages differ. What is beyond the end of either was written by no memory. */
const changedPages = (one: Buffer, other: Buffer): number[] => {
  const end = Math.min(one.length, other.length)
  const isSame = (from: number, length: number) =>
    one.subarray(from, Math.min(from + length, end)).equals(other.subarray(from, Math.min(from + length, end)))
  const found: number[] = []
  for (let from = 0; from < end; from += piece) {
    if (isSame(from, piece)) continue
    for (let offset = from; offset < Math.min(from + piece, end); offset += pageBytes)
      if (!isSame(offset, pageBytes)) found.push(offset)
  }
  return found
}
