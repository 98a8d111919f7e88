import { setLastIdIn } from '../../linux/ids.ts'
import { readKernelFile } from '../../linux/kernel-file.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { HeldNode, HeldThread } from '../hold/held/held-node.ts'
import { makeCalls } from './calls/batch.ts'

/** Id of the node's newest thread, inside of the node. */
export const lastThreadId = (node: HeldNode): number =>
  Math.max(
    ...node.threads.map(({ tid }) => Number(/^NSpid:.*\s(\d+)$/m.exec(readKernelFile(`/proc/${tid}/status`))?.[1])),
  )

const lastIdFile = Buffer.from('/proc/sys/kernel/ns_last_pid\0')
const [readOnly, writeOnly] = [0, 1]

/** The last id that the kernel gave in a thread's namespace, also to ended threads. The thread's registers are lost. */
export const lastId = (thread: HeldThread): number => {
  const [fd] = makeCalls(thread, [[syscallNumber.open, lastIdFile, readOnly, 0]])
  if (fd! < 0) return lastThreadId(thread.process.node)
  const text = Buffer.alloc(16)
  const [length] = makeCalls(thread, [
    [syscallNumber.read, fd!, text, text.length],
    [syscallNumber.close, fd!],
  ])
  return Number(text.toString('latin1', 0, length))
}

/** Makes the next thread or process get the id after this one, as it would have had. The thread's registers are lost. */
export const setLastId = (thread: HeldThread, id: number): void => {
  const { node, pid } = thread.process
  // A process that has given up its privileges may not, as a server with a user of its own.
  if (node.isContainer || !writesLastId(thread, id)) setLastIdIn(pid, id)
}

/** The quicker way: the thread itself does. Returns whether it may. */
const writesLastId = (thread: HeldThread, id: number): boolean => {
  const [fd] = makeCalls(thread, [[syscallNumber.open, lastIdFile, writeOnly, 0]])
  if (fd! < 0) return false
  const text = Buffer.from(String(id))
  const [written] = makeCalls(thread, [
    [syscallNumber.write, fd!, text, text.length],
    [syscallNumber.close, fd!],
  ])
  return written === text.length
}
