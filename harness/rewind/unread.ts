import { constants, readSync, writeSync } from 'node:fs'
import { withDuplicate, withFile } from '../../linux/descriptor.ts'
import { close, libc, pipe, read, recv } from '../../linux/libc.ts'
import { CannotRewind } from './calls/error.ts'
import { unreadIn } from './queued-bytes.ts'

/** What a pipe or local socket had to be read. */
interface Unread {
  readonly fd: number
  readonly link: string
  readonly kind: string
  readonly pending: number
  /** The bytes, for a pipe. */
  readonly content: Buffer
}

const tee = libc.func('long tee(int from, int to, size_t length, unsigned int flags)')

/** What a pipe holds by default. */
const contentMax = 1 << 16
const dontBlock = 2
const MSG_DONTWAIT = 0x40

/** Content of a pipe, at either end, without removing it. */
export const contentOfPipe = (own: number): Buffer =>
  withEnd(own, constants.O_RDONLY, reading => {
    const { readEnd, writeEnd } = pipe()
    try {
      const content = Buffer.alloc(contentMax)
      return tee(reading, writeEnd, contentMax, dontBlock) > 0
        ? content.subarray(0, read(readEnd, content, contentMax))
        : Buffer.alloc(0)
    } finally {
      close(readEnd)
      close(writeEnd)
    }
  })

/** Gives a pipe or local socket the unread bytes that it had. @throws CannotRewind */
export const rewindUnread = (pid: number, mark: Unread): void => {
  withDuplicate(pid, mark.fd, own => {
    if (mark.kind === 'pipe' && !holdsStill(own, mark)) fillPipe(own, mark)
    if (mark.kind === 'local' && mark.pending === 0) takeAll(own)
    if (unreadIn(own) !== mark.pending)
      throw new CannotRewind(`descriptor ${mark.fd} (${mark.link}) has something to read`)
  })
}

const holdsStill = (own: number, { pending, content }: Unread): boolean =>
  unreadIn(own) === pending && (pending === 0 || contentOfPipe(own).equals(content))

const fillPipe = (own: number, { fd, link, pending, content }: Unread): void => {
  if (content.length < pending) throw new CannotRewind(`descriptor ${fd} (${link}) held more than ${contentMax} bytes`)
  withEnd(own, constants.O_RDONLY, reading => {
    for (let left = unreadIn(own); left > 0; ) left -= readSync(reading, taken, 0, Math.min(left, taken.length), null)
    // Without a reader, which is open here, it could not be opened to be written to.
    if (pending > 0) withEnd(own, constants.O_WRONLY, writing => writeSync(writing, content))
  })
}

const taken = Buffer.alloc(contentMax)

/** Takes what a local socket was sent. */
const takeAll = (own: number): void => {
  while (unreadIn(own) > 0 && recv(own, taken, taken.length, MSG_DONTWAIT) > 0);
}

/** Uses one of the ends of a pipe, by either. It never waits. */
const withEnd = <Result>(own: number, mode: number, use: (fd: number) => Result): Result =>
  withFile(`/proc/self/fd/${own}`, mode | constants.O_NONBLOCK, use)
