import { withDuplicate } from '../../linux/descriptor.ts'
import { AT_FDCWD, write } from '../../linux/libc.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { HeldThread } from '../hold/held/held-node.ts'
import { makeCalls, type RawCall, succeed } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import { type Descriptor, flagsOf, infoOf } from './open-descriptors.ts'
import { pathWithin, statWithin } from './working-directory.ts'

const [writeOnly, nonBlocking, closeOnExec] = [0o1, 0o4000, 0o2000000]
const [duplicateFrom, setFlags] = [0, 4]
const isSemaphore = 1
/** SOCK_STREAM */
const stream = 1

/**
 * Opens again what a process has closed, under the same numbers: files, sockets that it had not used yet, and descriptors by which it
 * wakes its threads, if no other descriptor shares them; pipes, if the process is alone in its node.
 *
 * @param thread of the process, frozen; its registers are lost
 *
 * @param lost some of `all`
 *
 * @throws CannotRewind for anything else, or if a descriptor had another number too
 */
export const makeAgain = (thread: HeldThread, lost: readonly Descriptor[], all: readonly Descriptor[]): void => {
  const free = 1 + Math.max(...all.map(({ fd }) => fd))
  for (const mark of lost) {
    if (mark.kind === 'pipe') makePipe(thread, mark, pipeOf(thread, mark, lost, all), free)
    else if (mark.isShared) throw closed(mark)
    else if (mark.kind === 'file') openAgain(thread, mark)
    else makeOne(thread, mark)
  }
}

/** Both ends of a pipe. */
const pipeOf = (
  thread: HeldThread,
  mark: Descriptor,
  lost: readonly Descriptor[],
  all: readonly Descriptor[],
): readonly Descriptor[] => {
  const ends = all.filter(({ link }) => link === mark.link)
  const isAlone = thread.process.node.processes.size === 1
  if (!isAlone || !ends.every(each => lost.includes(each))) throw closed(mark)
  return ends
}

const closed = ({ fd, link }: Descriptor) => new CannotRewind(`it has closed descriptor ${fd} (${link})`)

/** The file must be there, under its name. Its position is restored elsewhere. */
const openAgain = (thread: HeldThread, mark: Descriptor): void => {
  const { pid } = thread.process
  const path = pathWithin(pid, mark.link)
  // Opening a pipe or a device would do something.
  const found = statWithin(pid, path)
  if (!found?.isFile() && !found?.isDirectory()) throw closed(mark)
  const [made] = makeCalls(thread, [[syscallNumber.openat, AT_FDCWD, Buffer.from(`${path}\0`), flagsOf(mark), 0]])
  if (made! < 0 || inodeOf(infoOf(pid, made!)) !== inodeOf(mark.info)) throw closed(mark)
  if (made !== mark.fd) move(thread, made!, mark)
}

/** What the kernel shows of the file beside its descriptor: the mount, and the number in its file system. */
const inodeOf = (info: string): string => (info.match(/^(?:mnt_id|ino):.*$/gm) ?? []).join()

const callThatMakes = (mark: Descriptor): RawCall | undefined => {
  switch (mark.kind) {
    case 'epoll':
      return [syscallNumber.epoll_create1, flagsOf(mark) & closeOnExec]
    case 'event':
      return [syscallNumber.eventfd2, 0, eventFlagsOf(mark)]
    case 'unused': {
      const { family, protocol } = mark.made!
      return [syscallNumber.socket, family, stream | (flagsOf(mark) & (nonBlocking | closeOnExec)), protocol]
    }
    default:
      return undefined
  }
}

const makeOne = (thread: HeldThread, mark: Descriptor): void => {
  const call = callThatMakes(mark)
  const [made] = call ? makeCalls(thread, [call]) : [-1]
  if (made! < 0) throw closed(mark)
  if (made !== mark.fd) move(thread, made!, mark)
}

const move = (thread: HeldThread, made: number, mark: Descriptor): void =>
  succeed(thread, [
    [syscallNumber.dup3, made, mark.fd, flagsOf(mark) & closeOnExec],
    [syscallNumber.close, made],
  ])

const endsOf = (mark: Descriptor, ends: readonly Descriptor[]): readonly [reading: Descriptor, writing: Descriptor] => {
  const reading = ends.find(end => (flagsOf(end) & writeOnly) === 0)
  const writing = ends.find(end => (flagsOf(end) & writeOnly) !== 0)
  const isWhole = ends.length === 2 && reading && writing && reading.content.length === reading.pending
  if (!isWhole) throw closed(mark)
  return [reading, writing]
}

/** Makes a pipe when its writing end is due. */
const makePipe = (thread: HeldThread, mark: Descriptor, same: readonly Descriptor[], free: number): void => {
  const ends = endsOf(mark, same)
  if (mark !== ends[1]) return
  const numbers = Buffer.alloc(8)
  const [result] = makeCalls(thread, [[syscallNumber.pipe2, numbers, 0]])
  if (result! < 0) throw closed(ends[0])
  const low = [numbers.readInt32LE(0), numbers.readInt32LE(4)]
  // Their numbers may belong to others that are still to be made.
  const high = makeCalls(
    thread,
    low.map(fd => [syscallNumber.fcntl, fd, duplicateFrom, free]),
  )
  succeed(
    thread,
    low.map(fd => [syscallNumber.close, fd]),
  )
  for (const [index, end] of ends.entries()) {
    succeed(thread, [[syscallNumber.fcntl, high[index]!, setFlags, flagsOf(end) & nonBlocking]])
    move(thread, high[index]!, end)
  }
  const [{ content }, { fd }] = ends
  if (content.length > 0) withDuplicate(thread.process.pid, fd, own => write(own, content, content.length))
}

const eventFlagsOf = (mark: Descriptor): number =>
  (flagsOf(mark) & (nonBlocking | closeOnExec)) | (/^eventfd-semaphore:\s*1$/m.test(mark.info) ? isSemaphore : 0)
