import { check, errno, lastErrno, libc } from '../../proxy/libc.ts'

const epollWait = libc.func('int epoll_wait(int fd, void *events, int max, int timeout)')
const poll = libc.func('int poll(void *fds, unsigned long count, int timeout)')

const eventsMax = 256
/** struct epoll_event */
const eventLength = 12
const events = Buffer.alloc(eventsMax * eventLength)
const POLLIN = 1

/** Whether an epoll descriptor has events, without taking any. */
export const hasEvents = (fd: number): boolean => {
  const request = Buffer.alloc(8)
  request.writeInt32LE(fd, 0)
  request.writeInt16LE(POLLIN, 4)
  return (
    check(
      'poll',
      untilDone(() => poll(request, 1, 0)),
    ) > 0
  )
}

/** Takes the events of an epoll descriptor. Level-triggered ones (not EPOLLET) stay. */
export const takeEvents = (fd: number): void => {
  check(
    'epoll_wait',
    untilDone(() => epollWait(fd, events, eventsMax, 0)),
  )
}

/** Repeats a call as long as a signal to this process, such as one of a profiler, interrupts it. */
const untilDone = (call: () => number): number => {
  for (;;) {
    const result = call()
    if (result !== -1 || lastErrno() !== errno.EINTR) return result
  }
}
