import { constants } from 'node:fs'
import { close, open, pread, requireSuccess } from './libc.ts'

const closeOnExec = 0o2000000
const buffer = Buffer.alloc(1 << 16)

/** A file that the kernel generates, opened once and read again and again. One of a namespace keeps the namespace. */
export class KernelFile {
  readonly descriptor: number

  /** @throws SystemError */
  constructor(path: string) {
    this.descriptor = requireSuccess(`open ${path}`, open(path, constants.O_RDONLY | closeOnExec, 0))
  }

  /**
   * The present content. It takes a third of the time of `readFileSync`, which also asks for the size.
   *
   * @throws SystemError
   */
  read(): string {
    let text = ''
    for (let offset = 0; ; ) {
      const length = requireSuccess('read a file of the kernel', pread(this.descriptor, buffer, buffer.length, offset))
      if (length === 0) return text
      text += buffer.toString('latin1', 0, length)
      offset += length
    }
  }

  close(): void {
    close(this.descriptor)
  }
}

/** Reads such a file once. @throws SystemError */
export const readKernelFile = (path: string): string => {
  const file = new KernelFile(path)
  try {
    return file.read()
  } finally {
    file.close()
  }
}
