import { closeSync, openSync, readSync, writeSync } from 'node:fs'

/** The memory of one process, read and written from outside; also where the process itself may not write. */
export class ProcessMemory {
  readonly #descriptor: number

  /** Throws when the process is gone. Valid until its next exec. */
  constructor(pid: number) {
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

  close(): void {
    closeSync(this.#descriptor)
  }
}
