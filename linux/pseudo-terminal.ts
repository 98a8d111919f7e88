import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { ioctl, libc, requireSuccess } from './libc.ts'

const TIOCSPTLCK = 0x4004_5431
const TIOCGPTPEER = 0x5441
const TIOCSWINSZ = 0x5414
/** Makes a terminal that of the calling session. */
export const TIOCSCTTY = 0x540e

const closeOnExec = 0o2000000

const openPeer = libc.func('int ioctl(int fd, unsigned long request, unsigned long flags)')

/** Number of characters beside and below each other. */
export interface WindowSize {
  readonly columns: number
  readonly rows: number
}

/** A terminal without a screen (pty(7)): what a program writes to it is read from `own`, what is written to `own` was typed. */
export class PseudoTerminal {
  /** Whoever has it closes it. */
  readonly own: number
  /** The end for the program. */
  readonly its: number

  /**
   * @param root of the program. A terminal of the file system that is mounted there has a path in it
   *
   * @throws SystemError
   */
  constructor(size: WindowSize, root: string) {
    this.own = openMultiplexer(root)
    try {
      requireSuccess('ioctl(TIOCSPTLCK)', ioctl(this.own, TIOCSPTLCK, Buffer.alloc(4)))
      // Its path may be hidden from this process.
      const flags = constants.O_RDWR | constants.O_NOCTTY | closeOnExec
      this.its = requireSuccess('ioctl(TIOCGPTPEER)', openPeer(this.own, TIOCGPTPEER, flags))
    } catch (error) {
      closeSync(this.own)
      throw error
    }
    this.resize(size)
  }

  /** The program in it is told. */
  resize({ columns, rows }: WindowSize): void {
    const size = Buffer.alloc(8)
    size.writeUInt16LE(rows, 0)
    size.writeUInt16LE(columns, 2)
    requireSuccess('ioctl(TIOCSWINSZ)', ioctl(this.own, TIOCSWINSZ, size))
  }
}

const openMultiplexer = (root: string): number => {
  const flags = constants.O_RDWR | constants.O_NOCTTY
  try {
    return openSync(join(root, 'dev/pts/ptmx'), flags)
  } catch {
    // A program without terminals of its own has one whose path it cannot find.
    return openSync('/dev/ptmx', flags)
  }
}
