import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs'
import { errno, lastErrno, libc, lseek, requireSuccess, SystemError } from '../../../linux/libc.ts'
import type { AddressRange, Piece } from '../../../linux/memory.ts'
import { CannotRewind } from '../calls/error.ts'
import { lengthInAll, without } from './pages.ts'

/** Content of an open file, of which most may never have been written: memory that processes share, a file in memory. */
export interface SparseContent {
  readonly size: number
  /** What was written, in order of its place in the file. */
  readonly pieces: readonly Piece[]
}

const fallocate = libc.func('int fallocate(int fd, int mode, long offset, long length)')
/** FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE */
const makeHole = 0x01 | 0x02
/** SEEK_DATA and SEEK_HOLE */
const [nextData, nextHole] = [3, 4]

/** Longest piece. Of an earlier content a piece is kept if it is the same; shorter ones would take more calls. */
const pieceMax = 1 << 16
/** Limit on the content of one file. */
const bytesMax = 256 << 20

const found = Buffer.alloc(pieceMax)

/**
 * The content of a file now. Only what was written is read, since reading the rest of a file in memory would fill it.
 *
 * @param last an earlier content of the same file, of which equal pieces are kept: many contents then need little memory
 *
 * @throws CannotRewind
 */
export const sparseContentOf = (fd: number, last?: SparseContent): SparseContent => {
  const written = writtenIn(fd)
  const length = lengthInAll(written)
  if (length > bytesMax) throw new CannotRewind(`it shares ${Math.round(length / 2 ** 20)} MB of memory`)
  const known = new Map(last?.pieces.map(piece => [piece.start, piece]))
  const pieces = written.flatMap(inPieces).map(({ start, end }) => {
    const before = known.get(start)
    const now = readAt(fd, { start, end })
    return before?.bytes.equals(now) ? before : { start, end, bytes: Buffer.from(now) }
  })
  return { size: fstatSync(fd).size, pieces }
}

/** How much was written. */
export const lengthWritten = ({ pieces }: SparseContent): number => lengthInAll(pieces)

/** Whether two contents of one file are the same, of which the later one was made with the other as the last. */
export const isEqualContent = (one: SparseContent, other: SparseContent): boolean =>
  one.size === other.size &&
  one.pieces.length === other.pieces.length &&
  one.pieces.every((piece, index) => piece === other.pieces[index])

/** Gives the file this content. What was not written then is a hole again. */
export const putBack = (fd: number, { size, pieces }: SparseContent): void => {
  if (fstatSync(fd).size !== size) ftruncateSync(fd, size)
  for (const piece of pieces)
    if (!piece.bytes.equals(readAt(fd, piece))) writeSync(fd, piece.bytes, 0, piece.bytes.length, piece.start)
  for (const { start, end } of without(writtenIn(fd), pieces))
    requireSuccess('fallocate', fallocate(fd, makeHole, start, end - start))
}

/** Where the file is no hole. */
const writtenIn = (fd: number): AddressRange[] => {
  const ranges: AddressRange[] = []
  for (let end = 0; ; ) {
    const start = seek(fd, end, nextData)
    if (start === undefined) return ranges
    end = seek(fd, start, nextHole)!
    ranges.push({ start, end })
  }
}

/** Undefined if nothing of that kind comes after a place. */
const seek = (fd: number, from: number, what: number): number | undefined => {
  const at = Number(lseek(fd, from, what))
  if (at >= 0) return at
  if (lastErrno() === errno.ENXIO) return undefined
  throw new SystemError('lseek', lastErrno())
}

const inPieces = ({ start, end }: AddressRange): AddressRange[] => {
  const pieces: AddressRange[] = []
  for (let from = start; from < end; ) {
    const to = Math.min(end, (Math.floor(from / pieceMax) + 1) * pieceMax)
    pieces.push({ start: from, end: to })
    from = to
  }
  return pieces
}

/** Valid until the next call. Behind the end of a file there is nothing. */
const readAt = (fd: number, { start, end }: AddressRange): Buffer =>
  found.subarray(0, readSync(fd, found, 0, end - start, start))
