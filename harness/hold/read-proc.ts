import { constants } from 'node:fs'
import { check, close, open, read } from '../../proxy/libc.ts'

const buffer = Buffer.alloc(1 << 16)

/**
 * Reads a file that the kernel generates. It takes a third of the time of `readFileSync`, which also asks for the size.
 *
 * @throws SystemError
 */
export const readProc = (path: string): string => {
  const file = check(`open ${path}`, open(path, constants.O_RDONLY | closeOnExec, 0))
  try {
    let text = ''
    for (;;) {
      const length = check(`read ${path}`, read(file, buffer, buffer.length))
      if (length === 0) return text
      text += buffer.toString('latin1', 0, length)
    }
  } finally {
    close(file)
  }
}

const closeOnExec = 0o2000000
