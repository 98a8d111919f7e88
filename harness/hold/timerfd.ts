import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { ioctl, libc } from '../../proxy/libc.ts'
import { withDuplicate } from './descriptor.ts'
import type { HeldNode, HeldProcess } from './held-node.ts'

/**
 * A timerfd of a node, which its kernel never lets expire. It may be duplicated, inherited and sent to others, so that
 * neither a process nor a descriptor names it. The kernel keeps a number by which it is known again: it is disarmed, with so
 * many seconds as its interval beyond a great number.
 */

/** 68 years: should it be armed once, its interval ends in no execution. */
const beyond = 2 ** 31

const setTime = libc.func('int timerfd_settime(int fd, int flags, void *value, void *old)')
const getTime = libc.func('int timerfd_gettime(int fd, void *value)')
const pollDescriptors = libc.func('poll', 'int', ['void *', 'unsigned long', 'int'])

/** struct itimerspec: interval, then value; seconds and nanoseconds each. */
const intervalSeconds = 0
const valueNanoseconds = 24
const settingLength = 32

/** Where a process has it open. */
export interface Holder {
  readonly process: HeldProcess
  readonly fd: number
}

/** The number of the one that our own descriptor is open on; 0: it has none yet. Undefined: it is no timerfd. */
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

/** The number of what a process has open; 0: none yet. Undefined where that is no timerfd. */
export const timerfdNumber = ({ process, fd }: Holder): number | undefined => withDuplicate(process.pid, fd, numberOf)

/** Forgets expirations that were not read, as setting it does; it keeps its number, or has this one. */
export const disarmTimerfd = ({ process, fd }: Holder, number?: number): void => {
  withDuplicate(process.pid, fd, own => {
    const known = numberOf(own)
    if (known !== undefined) disarm(own, number ?? known)
  })
}

/** Who has it open: `likely`, where that is so. Undefined where nobody has. */
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
    // It ends.
    return []
  }
}

/** TFD_IOC_SET_TICKS: how many expirations there were. Kernels that know no checkpoints have none. */
const setTicks = 0x4008_5400

/** Lets it expire once more; false when the process has closed it. */
export const expireTimerfd = ({ process, fd }: Holder): boolean =>
  withDuplicate(process.pid, fd, own => {
    const ticks = Buffer.from(BigUint64Array.of(BigInt(ticksOf(own) + 1)).buffer)
    if (ioctl(own, setTicks, ticks) !== 0) expireAtOnce(own)
    return true
  }) ?? false

/** Expirations that were not read. */
const ticksOf = (own: number): number =>
  Number(/^ticks:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${own}`, 'latin1'))?.[1] ?? 0)

/** The kernel then counts one expiration, whatever was not read. */
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
