import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import koffi from 'koffi'
import { check, libc, vector } from '../../proxy/libc.ts'

const writeVectors = libc.func('process_vm_writev', 'long', [
  'int',
  koffi.pointer(vector),
  'unsigned long',
  'void *',
  'unsigned long',
  'unsigned long',
])
const vectorSize = 16
/** UIO_MAXIOV */
const vectorsMax = 1024

/** Addresses from start up to end. */
export interface Run {
  readonly start: number
  readonly end: number
}

/** The memory of one process, read and written from outside; also where the process itself may not write. */
export class ProcessMemory {
  readonly #pid: number
  readonly #descriptor: number

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

  /** Writes what follows each other in `bytes` to these runs, all of which the process may write to: twice as fast. */
  writeAll(runs: readonly Run[], bytes: Buffer): void {
    let offset = 0
    for (let begin = 0; begin < runs.length; begin += vectorsMax) {
      const some = runs.slice(begin, begin + vectorsMax)
      const length = some.reduce((sum, { start, end }) => sum + end - start, 0)
      const from = { base: bytes.subarray(offset, offset + length), length }
      const put = check('process_vm_writev', writeVectors(this.#pid, from, 1, vectorsOf(some), some.length, 0))
      if (put !== length) throw new Error(`wrote ${put} of ${length} bytes of process ${this.#pid}`)
      offset += length
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

const vectorsOf = (runs: readonly Run[]): Buffer => {
  const vectors = Buffer.alloc(runs.length * vectorSize)
  for (const [index, { start, end }] of runs.entries()) {
    vectors.writeBigUInt64LE(BigInt(start), index * vectorSize)
    vectors.writeBigUInt64LE(BigInt(end - start), index * vectorSize + 8)
  }
  return vectors
}
