import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import koffi from 'koffi'
import { readKernelFile } from './kernel-file.ts'
import { libc, requireSuccess } from './libc.ts'

const writeVectors = libc.func(
  'long process_vm_writev(int pid, void *from, unsigned long count, void *to, unsigned long toCount, unsigned long flags)',
)
const vectorSize = 16
/** UIO_MAXIOV: most pieces that the kernel takes in one call. */
const vectorsMax = 1024

/** Addresses from start up to end. */
export interface AddressRange {
  readonly start: number
  readonly end: number
}

/** Content of these addresses, present or future. */
export interface Piece extends AddressRange {
  readonly bytes: Buffer
}

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

/** Memory of one process, accessed from outside, so that pages which the process cannot write can be written. */
export class ProcessMemory {
  readonly #pid: number
  readonly #descriptor: number
  readonly #others: number[] = []

  /** Throws if the process is gone. Valid until its next exec. */
  constructor(pid: number) {
    this.#pid = pid
    this.#descriptor = openSync(`/proc/${pid}/mem`, 'r+')
  }

  /** Throws EIO if nothing is mapped there. */
  read(address: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    const got = readSync(this.#descriptor, bytes, 0, length, address)
    if (got !== length) throw new Error(`read ${got} of ${length} bytes at 0x${address.toString(16)}`)
    return bytes
  }

  write(address: number, bytes: Uint8Array): void {
    const put = writeSync(this.#descriptor, bytes, 0, bytes.length, address)
    if (put !== bytes.length) throw new Error(`wrote ${put} of ${bytes.length} bytes at 0x${address.toString(16)}`)
  }

  /** Writes all pieces, at addresses that the process itself may write. It is twice as fast as one write each. */
  writeAll(pieces: readonly Piece[]): void {
    for (let begin = 0; begin < pieces.length; begin += vectorsMax) {
      const some = pieces.slice(begin, begin + vectorsMax)
      const length = some.reduce((sum, { bytes }) => sum + bytes.length, 0)
      const from = vectorsOf(some, ({ bytes }) => koffi.address(bytes))
      const to = vectorsOf(some, ({ start }) => BigInt(start))
      const put = requireSuccess('process_vm_writev', writeVectors(this.#pid, from, some.length, to, some.length, 0))
      if (put !== length) throw new Error(`wrote ${put} of ${length} bytes of process ${this.#pid}`)
    }
  }

  /** Closes a descriptor of ours together with this one, because it concerns the same memory. */
  closeToo(descriptor: number): void {
    this.#others.push(descriptor)
  }

  close(): void {
    for (const descriptor of [this.#descriptor, ...this.#others]) closeSync(descriptor)
  }
}

/** Bytes of the first read, which ends with the page at the latest. Most paths are shorter; more bytes cost time. */
const firstRead = 128
const longestPath = 4096
const pageSize = 4096

/** A path that a process gives to its kernel. Undefined if it is too long or cannot be read. */
export const pathAt = (memory: ProcessMemory, address: number): string | undefined => {
  const read: Buffer[] = []
  try {
    for (let length = 0; length < longestPath; ) {
      const from = address + length
      const bytes = memory.read(from, Math.min(length === 0 ? firstRead : longestPath, pageSize - (from % pageSize)))
      const end = bytes.indexOf(0)
      if (end !== -1) return Buffer.concat([...read, bytes.subarray(0, end)]).toString()
      read.push(bytes)
      length += bytes.length
    }
  } catch {}
  return undefined
}

/** Array of struct iovec. */
const vectorsOf = (pieces: readonly Piece[], addressOf: (piece: Piece) => bigint): Buffer => {
  const vectors = Buffer.alloc(pieces.length * vectorSize)
  for (const [index, piece] of pieces.entries()) {
    vectors.writeBigUInt64LE(addressOf(piece), index * vectorSize)
    vectors.writeBigUInt64LE(BigInt(piece.bytes.length), index * vectorSize + 8)
  }
  return vectors
}
