import { libc, requireSuccess, untilDone } from '../../linux/libc.ts'
import { Readable } from '../../linux/readable.ts'

const epollWait = libc.func('int epoll_wait(int fd, void *events, int max, int timeout)')

/** Events that one epoll_wait returns at most. */
const eventsMax = 256
/** struct epoll_event */
const eventLength = 12
const events = Buffer.alloc(eventsMax * eventLength)

/** Whether an epoll descriptor has events, without taking any. */
export const hasEvents = (fd: number): boolean => new Readable([fd]).count() > 0

/** Takes the events of an epoll descriptor. Level-triggered ones (not EPOLLET) stay. */
export const takeEvents = (fd: number): void => {
  requireSuccess(
    'epoll_wait',
    untilDone(() => epollWait(fd, events, eventsMax, 0)),
  )
}
