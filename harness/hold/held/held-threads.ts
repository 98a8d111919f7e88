import { readFileSync } from 'node:fs'
import { ProcessMemory } from '../../../linux/memory.ts'
import { setRank } from '../turns/turns.ts'
import { type HeldNode, HeldProcess, HeldThread, type Origin } from './held-node.ts'

/** The threads and processes that a tracer holds, by the ids of this machine. */
export class HeldThreads {
  readonly #threads = new Map<number, HeldThread>()

  get(tid: number): HeldThread | undefined {
    return this.#threads.get(tid)
  }

  get tids(): Iterable<number> {
    return this.#threads.keys()
  }

  addProcess(pid: number, node: HeldNode): HeldProcess {
    const process = new HeldProcess(pid, node, new ProcessMemory(pid))
    node.processes.set(pid, process)
    return process
  }

  add(process: HeldProcess, tid: number, origin: Origin): HeldThread {
    const thread = new HeldThread(tid, process, origin)
    process.threads.add(thread)
    this.#threads.set(tid, thread)
    return thread
  }

  /** Adds a process that was made from another one's image, with all its threads. */
  adopt(node: HeldNode, pid: number, threads: readonly (Origin & { readonly tid: number })[]): HeldProcess {
    const process = this.addProcess(pid, node)
    process.isPrepared = true
    process.mayChange = false
    for (const { tid, ...origin } of threads) this.add(process, tid, origin)
    return process
  }

  /** Adds a thread that was made by us in the place of another, with that one's rank. */
  adoptThread(process: HeldProcess, tid: number, origin: Origin): HeldThread {
    const thread = this.add(process, tid, origin)
    setRank(tid, thread.ordinal)
    return thread
  }

  /** Adds what a thread of a node has made: a thread of its own process or of a new one. Undefined when it is gone. */
  addChild(parent: HeldThread, tid: number): HeldThread | undefined {
    const { node } = parent.process
    const origin = node.originOf(parent)
    const group = threadGroupOf(tid)
    if (group === undefined) return undefined
    const process = node.processes.get(group) ?? this.addProcess(group, node)
    process.isGo ||= parent.process.isGo
    process.mayChange &&= parent.process.mayChange
    process.hasOpening ||= parent.process.hasOpening
    return this.adoptThread(process, tid, origin)
  }

  forget(thread: HeldThread): void {
    thread.close()
    this.#threads.delete(thread.tid)
    thread.process.threads.delete(thread)
    thread.forgetWait()
    // It may be one that goes on next, and after exec another thread has its id.
    thread.resumption = undefined
  }
}

/** The process that a thread belongs to; undefined when it is gone. */
const threadGroupOf = (tid: number): number | undefined => {
  try {
    const line = /^Tgid:\s*(\d+)$/m.exec(readFileSync(`/proc/${tid}/status`, 'utf8'))
    return line ? Number(line[1]) : undefined
  } catch {
    return undefined
  }
}
