import { close, libc, requireSuccess } from '../../linux/libc.ts'

const epollCreate = libc.func('int epoll_create1(int flags)')
const epollCtl = libc.func('int epoll_ctl(int epoll, int op, int fd, void *event)')
const epollPwait2 = libc.func(
  'int epoll_pwait2(int epoll, void *events, int max, void *timeout, void *mask, size_t length)',
)

const closeOnExec = 0o2000000
const add = 1
const readable = 1
/** struct epoll_event is packed on x86-64: the events, followed by our data. */
const eventLength = 12
const eventsMax = 256
const msMax = 1e9

/** Waits until one of many descriptors is readable (epoll(7)), with microsecond precision. */
export class Epoll {
  readonly #fd = requireSuccess('epoll_create1', epollCreate(closeOnExec))
  readonly #events = Buffer.alloc(eventLength * eventsMax)
  readonly #timeout = Buffer.alloc(16)

  add(fd: number, key: number): void {
    const event = Buffer.alloc(eventLength)
    event.writeUInt32LE(readable, 0)
    event.writeInt32LE(key, 4)
    requireSuccess('epoll_ctl', epollCtl(this.#fd, add, fd, event))
  }

  /**
   * @param milliseconds limit, with fractions; Infinity for none
   *
   * @returns how many are readable; `key` tells which
   */
  wait(milliseconds: number): number {
    const timeout = Number.isFinite(milliseconds) ? this.#timeout : null
    if (timeout) {
      // If woken too early, the caller waits again. The low halves of the two 64-bit numbers are enough.
      const nanoseconds = Math.round(Math.min(Math.max(0, milliseconds), msMax) * 1e6)
      timeout.writeInt32LE(Math.floor(nanoseconds / 1e9), 0)
      timeout.writeInt32LE(nanoseconds % 1e9, 8)
    }
    // Returns -1 when interrupted by a signal. Nothing is readable then.
    return Math.max(0, epollPwait2(this.#fd, this.#events, eventsMax, timeout, null, 0))
  }

  key(index: number): number {
    return this.#events.readInt32LE(eventLength * index + 4)
  }

  close(): void {
    close(this.#fd)
  }
}
