import { readFileSync } from 'node:fs'
import type { HeldNode, HeldProcess, HeldThread, Keeper } from '../hold/held-node.ts'
import { setLastIdIn } from '../hold/last-id.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { endWhenThawed, makeCalls } from './batch.ts'
import { CannotRewind } from './error.ts'
import { ProcessMark } from './process-mark.ts'

/**
 * Where a held node can go back to, in place: the same processes, with the memory, threads, descriptors and timers that
 * they had. Its kernel must not have a connection there. It costs a tenth of another start. What the node had then and
 * ends of itself is kept, for the kernel does not give it back.
 */
export class NodeMark implements Keeper {
  readonly #node: HeldNode
  readonly #processes: readonly ProcessMark[]
  readonly #rewindNode: () => void
  readonly #lastId: number
  readonly #threads: number

  /** @param node frozen, and all its threads wait. @throws CannotRewind */
  constructor(node: HeldNode) {
    this.#node = node
    this.#rewindNode = node.mark()
    const processes = [...node.processes.values()]
    this.#processes = processes.map(process => new ProcessMark(process))
    this.#lastId = this.#processes[0]!.useFirst(lastId)
    this.#threads = node.threadsMade
    node.keeper = this
  }

  keepThread(thread: HeldThread): boolean {
    return this.#markOf(thread.process)?.keepThread(thread) ?? false
  }

  canKeep(process: HeldProcess): boolean {
    return this.#node.processes.size === 1 && (this.#markOf(process)?.canKeep() ?? false)
  }

  keepProcess(process: HeldProcess): void {
    this.#markOf(process)!.keep()
  }

  letThreadsEnd(): HeldThread[] {
    for (const process of this.#processes) process.bringBack()
    return this.#processes.flatMap(process => process.letThreadsEnd())
  }

  #markOf(process: HeldProcess): ProcessMark | undefined {
    return this.#processes.find(mark => mark.process === process)
  }

  /** What is kept is there again: the node is frozen. */
  bringBack(): void {
    const { ended } = this.#node
    if (ended) this.#node.processes.set(ended.pid, ended)
    this.#node.ended = undefined
    this.#node.exit = undefined
    for (const process of this.#processes) process.bringBack()
  }

  /** Threads that must end before it is rewound: let them, by `thaw`. */
  endNewThreads(): HeldThread[] {
    if (this.#processes.length !== this.#node.processes.size) throw new CannotRewind('it has other processes')
    const threads = this.#processes.flatMap(process => process.newThreads())
    for (const thread of threads) endWhenThawed(thread)
    return threads
  }

  /** The node is frozen; when it is thawed it goes on as from the mark. @throws CannotRewind */
  rewind(): void {
    for (const process of this.#processes) process.check()
    if (this.#node.threadsMade !== this.#threads) this.#forgetThreads()
    for (const process of this.#processes) process.rewind()
    this.#rewindNode()
  }

  /** As if those that have ended had never been. */
  #forgetThreads(): void {
    for (const process of this.#processes) process.reap()
    setLastId(this.#processes[0]!.first, this.#lastId)
  }

  /** To be called when its disk is as it was. @throws CannotRewind */
  goBackToDirectories(): void {
    for (const process of this.#processes) process.goBackToDirectory()
  }

  /** To be called before the node that was brought back is thawed: it has a network again. */
  goOn(): void {
    for (const process of this.#processes) process.goOn()
  }
}

/** The id of its newest thread, as the node knows it. */
export const lastThreadId = (node: HeldNode): number =>
  Math.max(
    ...node.threads.map(({ tid }) =>
      Number(/^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${tid}/status`, 'latin1'))?.[1]),
    ),
  )

const lastIdFile = Buffer.from('/proc/sys/kernel/ns_last_pid\0')
const [readOnly, writeOnly] = [0, 1]

/** The id that the kernel gave last in a thread's namespace, also to what has ended. The thread's registers are lost. */
const lastId = (thread: HeldThread): number => {
  const [fd] = makeCalls(thread, [[syscallNumber.open, lastIdFile, readOnly, 0]])
  if (fd! < 0) return lastThreadId(thread.process.node)
  const text = Buffer.alloc(16)
  const [length] = makeCalls(thread, [
    [syscallNumber.read, fd!, text, text.length],
    [syscallNumber.close, fd!],
  ])
  return Number(text.toString('latin1', 0, length))
}

/** The next thread or process has the id after this one, as it would have had. */
export const setLastId = (thread: HeldThread, id: number): void => {
  const { node, pid } = thread.process
  if (node.isContainer) return setLastIdIn(pid, id)
  const [fd] = makeCalls(thread, [[syscallNumber.open, lastIdFile, writeOnly, 0]])
  if (fd! < 0) return
  const text = Buffer.from(String(id))
  makeCalls(thread, [
    [syscallNumber.write, fd!, text, text.length],
    [syscallNumber.close, fd!],
  ])
}
