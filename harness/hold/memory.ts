import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import koffi from 'koffi'
import { check, libc } from '../../proxy/libc.ts'

const writeVectors = libc.func(
  'long process_vm_writev(int pid, void *from, unsigned long count, void *to, unsigned long toCount, unsigned long flags)',
)
const vectorSize = 16
/** UIO_MAXIOV */
const vectorsMax = 1024

/** Addresses from start up to end. */
export interface Run {
  readonly start: number
  readonly end: number
}

/** What stands, or is to stand, at these addresses. */
export interface Piece extends Run {
  readonly bytes: Buffer
}

/** The memory of one process, read and written from outside; also where the process itself may not write. */
export class ProcessMemory {
  readonly #pid: number
  readonly #descriptor: number
  readonly #others: number[] = []

  /** Throws when the process is gone. Valid until its next exec. */
  constructor(pid: number) {
    this.#pid = pid
    this.#descriptor = openSync(`/proc/${pid}/mem`, 'r+')
  }

  /** Throws EIO where nothing is mapped. */
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

  /** Writes to all these pieces, to which the process itself may write: twice as fast. */
  writeAll(pieces: readonly Piece[]): void {
    for (let begin = 0; begin < pieces.length; begin += vectorsMax) {
      const some = pieces.slice(begin, begin + vectorsMax)
      const length = some.reduce((sum, { bytes }) => sum + bytes.length, 0)
      const from = vectorsOf(some, ({ bytes }) => koffi.address(bytes))
      const to = vectorsOf(some, ({ start }) => BigInt(start))
      const put = check('process_vm_writev', writeVectors(this.#pid, from, some.length, to, some.length, 0))
      if (put !== length) throw new Error(`wrote ${put} of ${length} bytes of process ${this.#pid}`)
    }
  }

  /** Closes a descriptor of ours that is about this memory together with this. */
  closeToo(descriptor: number): void {
    this.#others.push(descriptor)
  }

  close(): void {
    for (const descriptor of [this.#descriptor, ...this.#others]) closeSync(descriptor)
  }
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
