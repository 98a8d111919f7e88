import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { withDuplicate } from '../../../linux/descriptor.ts'
import { ioctl, libc } from '../../../linux/libc.ts'
import type { HeldNode, HeldProcess } from '../held/held-node.ts'

/**
 * A node's timerfd, which its kernel never lets expire. It may be duplicated, inherited and sent to others, so neither
 * a process nor a descriptor identifies it. Instead the kernel stores a number for it: the timerfd is disarmed, and its
 * interval is this number of seconds beyond a large constant.
 */

/** 68 years: if it were ever armed, its interval would end in no execution. */
const beyond = 2 ** 31

const setTime = libc.func('int timerfd_settime(int fd, int flags, void *value, void *old)')
const getTime = libc.func('int timerfd_gettime(int fd, void *value)')
const pollDescriptors = libc.func('poll', 'int', ['void *', 'unsigned long', 'int'])

/** struct itimerspec: interval, then value; seconds and nanoseconds each. */
const intervalSeconds = 0
const valueNanoseconds = 24
const settingLength = 32

/** A process and its descriptor of the timerfd. */
export interface Holder {
  readonly process: HeldProcess
  readonly fd: number
}

/** The number of the timerfd behind our own descriptor; 0 if it has none yet, undefined if it is no timerfd. */
const numberOf = (own: number): number | undefined => {
  const setting = Buffer.alloc(settingLength)
  if (getTime(own, setting) !== 0) return undefined
  return Math.max(0, Number(setting.readBigInt64LE(intervalSeconds)) - beyond)
}

const disarm = (own: number, number: number): void => {
  const setting = Buffer.alloc(settingLength)
  if (number > 0) setting.writeBigInt64LE(BigInt(beyond + number), intervalSeconds)
  setTime(own, 0, setting, null)
}

/** The number of a process's timerfd; 0 if it has none yet, undefined if the descriptor is no timerfd. */
export const timerfdNumber = ({ process, fd }: Holder): number | undefined => withDuplicate(process.pid, fd, numberOf)

/** Forgets unread expirations, like setting it does. The timerfd keeps its number, or gets this one. */
export const disarmTimerfd = ({ process, fd }: Holder, number?: number): void => {
  withDuplicate(process.pid, fd, own => {
    const known = numberOf(own)
    if (known !== undefined) disarm(own, number ?? known)
  })
}

/** Someone who has the timerfd open: `likely`, if possible. Undefined if nobody has. */
export const holderOf = (node: HeldNode, number: number, likely: Holder): Holder | undefined => {
  if (node.processes.has(likely.process.pid) && timerfdNumber(likely) === number) return likely
  const holders = [...node.processes.values()].flatMap(process => timerfdsOf(process).map(fd => ({ process, fd })))
  return holders.find(holder => timerfdNumber(holder) === number)
}

const timerfdsOf = ({ pid }: HeldProcess): number[] => {
  const directory = `/proc/${pid}/fd`
  try {
    const names = readdirSync(directory)
    return names.filter(name => readlinkSync(`${directory}/${name}`) === 'anon_inode:[timerfd]').map(Number)
  } catch {
    // The process is ending.
    return []
  }
}

/** TFD_IOC_SET_TICKS sets the number of expirations. Kernels without checkpoint support lack it. */
const setTicks = 0x4008_5400

/** Lets it expire once more; false if the process has closed it. */
export const expireTimerfd = ({ process, fd }: Holder): boolean =>
  withDuplicate(process.pid, fd, own => {
    const ticks = Buffer.from(BigUint64Array.of(BigInt(ticksOf(own) + 1)).buffer)
    if (ioctl(own, setTicks, ticks) !== 0) expireAtOnce(own)
    return true
  }) ?? false

/** Number of unread expirations. */
const ticksOf = (own: number): number =>
  Number(/^ticks:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${own}`, 'latin1'))?.[1] ?? 0)

/** Makes the kernel count one expiration, replacing unread ones. */
const expireAtOnce = (own: number): void => {
  const setting = Buffer.alloc(settingLength)
  setting.writeBigInt64LE(BigInt(beyond + (numberOf(own) ?? 0)), intervalSeconds)
  setting.writeBigInt64LE(1n, valueNanoseconds)
  setTime(own, 0, setting, null)
  const request = Buffer.alloc(8)
  request.writeInt32LE(own, 0)
  request.writeInt16LE(readable, 4)
  pollDescriptors(request, 1, patienceMs)
}

/** POLLIN */
const readable = 1
const patienceMs = 100
