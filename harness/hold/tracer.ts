import { readFileSync } from 'node:fs'
import type { CallRecorder } from './call-recorder.ts'
import { foreignCall } from './filter.ts'
import { enterCall, exitCall, restart } from './filtered.ts'
import { drawNumber } from './hardware-random.ts'
import { type HeldNode, HeldProcess, HeldThread, type Origin, type Resumption } from './held-node.ts'
import { isEnding } from './is-ending.ts'
import { disarmAll, disarmAtExec, leaveTimers } from './kernel-timers.ts'
import { type Launched, sendSignal } from './launch.ts'
import { ProcessMemory } from './memory.ts'
import { prepare } from './prepare.ts'
import {
  type Change,
  cont,
  contToSyscall,
  detach,
  event,
  getEventMessage,
  getSignalInfo,
  interrupt,
  listen,
  poll,
  Registers,
  seize,
  ThreadEnded,
  wait,
} from './ptrace.ts'
import { sleeps } from './quiescence.ts'
import { endsFirst } from './signals.ts'
import { spins, spinsAfterCall } from './spin.ts'
import { syscallNumber } from './syscall-number.ts'
import { readCounter } from './timestamp-counter.ts'
import { ahead, limitTurns, nap, setRank } from './turns.ts'

const trapSignal = 5
const killSignal = 9
const faultSignal = 11
const turnOverSignal = 24
const badCallSignal = 31
/** SI_KERNEL */
const sentByKernel = 0x80
const noSuchCall = -38
const noCall = -1
/** More than any lock yields before it waits; at 30 µs each. */
const yieldsPerLook = 512
/** A thread that spins shows it twice as fast as its CPU time is spent, or some hundred times. */
const timersAwaitedMax = { byTurns: 2, byYields: 100 } as const
/** SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU */
const stopSignals = [19, 20, 21, 22]

/**
 * Holds processes: follows every one of their threads and children, and treats what the filter stops. One for each
 * `Runner`, on its thread; nothing happens but in `poll`.
 */
export class Tracer {
  readonly #threads = new Map<number, HeldThread>()
  /** First stops of children that came before their parent's report. */
  readonly #early = new Set<number>()
  readonly #lowered = new Set<HeldThread>()
  readonly #registers = new Registers()
  /** Set, it sees every system call of every thread; it has to be there before they begin. */
  recorder: CallRecorder | undefined

  /** Takes hold of a launched process that waits to be released. */
  hold(node: HeldNode, { pid, isContainer, root }: Launched): void {
    node.root = root
    seize(pid)
    node.pid = pid
    node.isContainer = isContainer
    this.#addThread(this.#addProcess(pid, node), pid, node.originOf(undefined))
  }

  /** Children of this thread that others wait for: while there are any, only our own are asked about. */
  foreignChildren = 0

  /** Treats all that has happened; true if anything had. */
  poll(): boolean {
    let happened = false
    for (let change = this.#next(); change !== undefined; change = this.#next()) {
      happened = true
      this.#treat(change)
    }
    return happened
  }

  #next(): Change | undefined {
    if (this.foreignChildren === 0) return poll()
    for (const tid of this.#threads.keys()) {
      const change = poll(tid)
      if (change !== undefined) return change
    }
    return undefined
  }

  /** Asks every thread of the node to stop where it is; the program sees nothing of it. */
  freeze(node: HeldNode): void {
    node.frozen = true
    for (const thread of node.threads) {
      thread.interrupted = true
      interrupt(thread.tid)
    }
  }

  thaw(node: HeldNode): void {
    node.frozen = false
    for (const thread of node.threads) {
      const { resumption } = thread
      thread.resumption = undefined
      if (resumption) this.#resume(thread, resumption)
    }
  }

  /** Lets one thread go on that is kept where it stopped. */
  thawThread(thread: HeldThread): void {
    const { resumption } = thread
    thread.resumption = undefined
    if (resumption) this.#release(thread, resumption)
  }

  /** Its call returns as if it had slept. */
  endNap(thread: HeldThread): void {
    thread.napping = false
    thread.spinsAside = false
    this.thawThread(thread)
  }

  /** Lets go of a frozen process, so that another can trace it: stopped by SIGSTOP, which must be under way. */
  letGo({ threads }: HeldProcess): void {
    for (const { tid } of threads) detach(tid)
  }

  /**
   * Takes hold again of a node that was let go, all of whose threads are stopped by SIGSTOP. It is frozen then, and goes
   * on when it is thawed after SIGCONT.
   *
   * @throws SystemError, ThreadEnded
   */
  takeAgain(node: HeldNode): void {
    for (const thread of node.threads) {
      seize(thread.tid)
      // One that was woken by somebody else stops all the same.
      interrupt(thread.tid)
      wait(thread.tid)
      thread.interrupted = false
      thread.resumption = { toSyscall: false, signal: 0 }
    }
  }

  /** The same with a process that was made from another one's image. */
  adopt(node: HeldNode, pid: number, threads: readonly (Origin & { readonly tid: number })[]): HeldProcess {
    const process = this.#addProcess(pid, node)
    process.isPrepared = true
    process.mayChange = false
    for (const { tid, ...origin } of threads) this.#addThread(process, tid, origin)
    return process
  }

  /** The same with a thread that was made by us in the place of another. */
  adoptThread(process: HeldProcess, tid: number, origin: Origin): HeldThread {
    const thread = this.#addThread(process, tid, origin)
    setRank(tid, thread.ordinal)
    return thread
  }

  /** Kills a node some of whose threads are not traced, and forgets it. */
  abandon(node: HeldNode): void {
    const tids = new Set([node.pid, ...node.threads.map(({ tid }) => tid)])
    for (const thread of node.threads) this.#forget(thread)
    for (const process of node.processes.values()) {
      disarmAll(process)
      process.memory.close()
    }
    node.processes.clear()
    node.exit ??= { signal: killSignal }
    // The first process ends after all others, and those that are traced when this was noticed.
    while (sendSignal(node.pid, killSignal)) {
      for (const tid of tids) poll(tid)
      nap()
    }
  }

  #treat(change: Change): void {
    const thread = this.#threads.get(change.tid)
    if (thread === undefined) {
      if (change.kind === 'event') this.#early.add(change.tid)
      return
    }
    try {
      this.#treatHeld(thread, change)
      if (thread.process.node.ending) this.#keepProcess(thread.process.node)
    } catch (error) {
      // Somebody else killed it meanwhile: its end is reported next.
      if (!isEnding(thread.process.pid)) throw error
    }
  }

  #treatHeld(thread: HeldThread, change: Change): void {
    switch (change.kind) {
      case 'exited':
        return this.#end(thread, { code: change.code })
      case 'killed':
        return this.#end(thread, { signal: change.signal })
      case 'syscall':
        if (this.recorder?.atEntry(thread)) return this.#goOn(thread)
        this.#exitCall(thread)
        return
      case 'signal':
        return this.#signal(thread, change.signal)
      case 'event':
        return this.#treatEvent(thread, change.event, change.signal)
    }
  }

  #treatEvent(thread: HeldThread, what: number, signal: number): void {
    switch (what) {
      case event.fork:
      case event.vfork:
      case event.clone:
        this.#adopt(thread, getEventMessage(thread.tid))
        return this.#goOn(thread)
      case event.exec:
        return this.#exec(thread)
      case event.seccomp:
        return this.#enterCall(thread)
      case event.stop:
        return this.#stop(thread, signal)
      default:
        return this.#goOn(thread)
    }
  }

  #enterCall(thread: HeldThread): void {
    if (!this.#registers.load(thread.tid) || this.#keepsEnd(thread)) return
    const treatment = enterCall(thread, this.#registers)
    this.#registers.storeChanges(thread.tid)
    thread.napping = treatment === 'nap'
    if (treatment === 'yield') {
      this.#giveUpRank(thread)
      thread.yields += 1
      if (thread.yields % yieldsPerLook === 0) return this.#lookAtYield(thread)
    }
    if (thread.napping) thread.resumption = { toSyscall: false, signal: 0 }
    else this.#resume(thread, { toSyscall: treatment === 'exit', signal: 0 })
  }

  /** True where the call would end the thread or its process, and that is kept instead. */
  #keepsEnd(thread: HeldThread): boolean {
    const { process } = thread
    const { node } = process
    switch (this.#registers.get('origRax')) {
      case syscallNumber.exit:
        return node.keeper?.keepThread(thread) ?? false
      case syscallNumber.exit_group:
        if (node.frozen || !node.keeper?.canKeep(process)) return false
        node.ending = { code: this.#registers.get('rdi') & 0xff }
        thread.resumption = { toSyscall: false, signal: 0 }
        this.freeze(node)
        this.#keepProcess(node)
        return true
      default:
        return false
    }
  }

  /** As soon as all of its threads have stopped. */
  #keepProcess(node: HeldNode): void {
    if (node.threads.some(thread => thread.resumption === undefined)) return
    const process = node.processes.get(node.pid)!
    for (const thread of process.threads) thread.forgetWait()
    disarmAll(process)
    node.keeper!.keepProcess(process)
    node.processes.delete(node.pid)
    node.ended = process
    node.exit = node.ending
    node.ending = undefined
  }

  #signal(thread: HeldThread, signal: number): void {
    if (signal === faultSignal && this.#registers.load(thread.tid) && readCounter(thread, this.#registers)) {
      this.#registers.store(thread.tid)
      return this.#goOn(thread)
    }
    if (signal === trapSignal && this.#registers.load(thread.tid) && drawNumber(thread, this.#registers)) {
      this.#registers.store(thread.tid)
      return this.#goOn(thread)
    }
    if (signal === badCallSignal && getSignalInfo(thread.tid).errno === foreignCall) return this.#refuseForeign(thread)
    if (signal === turnOverSignal && getSignalInfo(thread.tid).code === sentByKernel) {
      return this.#lookAtTurn(thread)
    }
    const { pid, node } = thread.process
    if (pid === node.pid && endsFirst(pid, signal, node.isContainer)) this.#killFirst(node, signal)
    else this.#resume(thread, { toSyscall: false, signal })
  }

  #refuseForeign(thread: HeldThread): void {
    thread.process.node.note('system calls of i386 and x32 are refused with ENOSYS: only those of x86-64 are held')
    if (!this.#registers.load(thread.tid)) return
    this.#registers.set('rax', noSuchCall)
    this.#registers.store(thread.tid)
    this.#goOn(thread)
  }

  #killFirst(node: HeldNode, signal: number): void {
    node.endedBy ??= signal
    sendSignal(node.pid, killSignal)
  }

  /** A thread has computed for long: it may wait for one of lower rank, and go round and round meanwhile. */
  #lookAtTurn(thread: HeldThread): void {
    const { process } = thread
    limitTurns(process.pid, process.node.turnUsMax)
    // Asked first: whenever this thread waits, as for V8's collector, others go on and may come to sleep.
    const [isAlone, found] = ahead(() => [watchesAlone(thread), spins(thread)] as const)
    if (typeof found === 'object') return this.#treatHeld(thread, found)
    if (found && isAlone && this.#allSpin(thread)) process.node.spinsAlone(thread, timersAwaitedMax.byTurns)
    // Others had the CPU at an instruction of chance, or have it now.
    if (!found && !isAlone) process.node.turnsCut += 1
    this.#endTurn(thread)
    this.#goOn(thread)
  }

  /**
   * A thread has given way again and again. Where it only waits for another to write something, it is put aside until the
   * others have done what they do: two of them would give way to each other for ever.
   */
  #lookAtYield(thread: HeldThread): void {
    const { node } = thread.process
    const isAlone = watchesAlone(thread)
    // It has given way often enough: this call does nothing, and the thread can be looked at.
    this.#registers.set('origRax', noCall)
    this.#registers.set('rax', 0)
    this.#registers.store(thread.tid)
    const found = ahead(() => spinsAfterCall(thread))
    if (typeof found === 'object') return this.#treatHeld(thread, found)
    if (found && !isAlone) {
      thread.napping = true
      thread.spinsAside = true
      thread.resumption = { toSyscall: false, signal: 0 }
      return
    }
    if (found && this.#allSpin(thread)) node.spinsAlone(thread, timersAwaitedMax.byYields)
    this.#goOn(thread)
  }

  /** Whether those that were put aside, as this one spins, still do so: what they wait for may have been written. */
  #allSpin(thread: HeldThread): boolean {
    const aside = thread.process.node.threads.filter(other => other !== thread && other.spinsAside)
    const goingOn = aside.filter(other => {
      const found = ahead(() => spins(other, false))
      if (found === true) return false
      if (found === false) this.endNap(other)
      else {
        other.napping = false
        other.spinsAside = false
        other.resumption = undefined
        this.#treatHeld(other, found)
      }
      return true
    })
    return goingOn.length === 0
  }

  #endTurn(thread: HeldThread): void {
    for (const napper of thread.process.threads) if (napper.napping) this.endNap(napper)
    this.#giveUpRank(thread)
  }

  #giveUpRank(thread: HeldThread): void {
    if (thread.ordinal === 0) return
    setRank(thread.tid, 0)
    this.#lowered.add(thread)
  }

  /** To be called where all threads wait: those that had to give up their rank have it again. */
  restoreRanks(): void {
    for (const { tid, ordinal } of this.#lowered) if (this.#threads.has(tid)) setRank(tid, ordinal)
    this.#lowered.clear()
  }

  #exitCall(thread: HeldThread): void {
    if (!this.#registers.load(thread.tid)) return
    exitCall(thread, this.#registers)
    this.#registers.storeChanges(thread.tid)
    this.recorder?.atExit(thread)
    this.#goOn(thread)
  }

  /** Our own interruption, the first stop of a new thread, or a stop that a signal asked for. */
  #stop(thread: HeldThread, signal: number): void {
    thread.isStoppedBySignal = stopSignals.includes(signal)
    if (thread.isStoppedBySignal) {
      listen(thread.tid)
      return
    }
    if (signal === trapSignal && thread.interrupted) this.#finishInterruption(thread)
    this.#goOn(thread)
  }

  #finishInterruption(thread: HeldThread): void {
    thread.interrupted = false
    if (!this.#registers.load(thread.tid)) return
    enterAgain(this.#registers)
    this.#registers.store(thread.tid)
    thread.errand?.(thread.tid)
    thread.errand = undefined
  }

  #exec(thread: HeldThread): void {
    const { process } = thread
    // The other threads have died, and the one that called exec bears the process's id from now on.
    for (const former of process.threads) this.#forget(former)
    disarmAtExec(process)
    const leader = this.#addThread(process, process.pid, thread)
    const isFirst = process.pid === process.node.pid && !process.isPrepared
    process.isPrepared = true
    try {
      prepare(leader, isFirst)
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error
      this.#treat(error.change)
      return
    }
    this.#goOn(leader)
  }

  #adopt(parent: HeldThread, tid: number): void {
    const { node } = parent.process
    const origin = node.originOf(parent)
    const group = threadGroupOf(tid)
    if (group === undefined) return
    const process = node.processes.get(group) ?? this.#addProcess(group, node)
    process.isGo ||= parent.process.isGo
    process.mayChange &&= parent.process.mayChange
    const thread = this.#addThread(process, tid, origin)
    setRank(tid, thread.ordinal)
    this.#awaitFirstStop(thread)
  }

  /**
   * A new thread is ready before the one that made it goes on: who of the two runs first follows from their ranks then,
   * and not from whether this thread slept when one was made.
   */
  #awaitFirstStop(thread: HeldThread): void {
    if (this.#early.delete(thread.tid)) return this.#goOn(thread)
    try {
      this.#treatHeld(thread, wait(thread.tid))
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error
      this.#treatHeld(thread, error.change)
    }
  }

  #addProcess(pid: number, node: HeldNode): HeldProcess {
    const process = new HeldProcess(pid, node, new ProcessMemory(pid))
    node.processes.set(pid, process)
    return process
  }

  #addThread(process: HeldProcess, tid: number, origin: Origin): HeldThread {
    const thread = new HeldThread(tid, process, origin)
    process.threads.add(thread)
    this.#threads.set(tid, thread)
    return thread
  }

  #forget(thread: HeldThread): void {
    thread.close()
    this.#threads.delete(thread.tid)
    thread.process.threads.delete(thread)
    thread.forgetWait()
  }

  #end(thread: HeldThread, exit: { code: number } | { signal: number }): void {
    const { process } = thread
    this.#forget(thread)
    if (process.threads.size > 0) return
    const { node } = process
    process.memory.close()
    node.processes.delete(process.pid)
    leaveTimers(process)
    if (process.pid !== node.pid) return
    node.ended = undefined
    node.ending = undefined
    node.exit ??= node.endedBy === undefined ? exit : { signal: node.endedBy }
  }

  #goOn(thread: HeldThread): void {
    this.#resume(thread, { toSyscall: false, signal: 0 })
  }

  #resume(thread: HeldThread, how: Resumption): void {
    if (thread.process.node.frozen) thread.resumption = how
    else this.#release(thread, how)
  }

  #release({ tid }: HeldThread, { toSyscall, signal }: Resumption): void {
    if (toSyscall || this.recorder) contToSyscall(tid, signal)
    else cont(tid, signal)
  }
}

/**
 * An interrupted call is made again, so that the program never learns of our interruption; unless a signal of its own
 * comes at the same time, with a handler. The kernel does both, where the call has not ended with EINTR already.
 */
const enterAgain = (registers: Registers) => {
  if (registers.get('origRax') >= 0 && registers.get('rax') === interruptedByUs) registers.set('rax', restart)
}

const interruptedByUs = -4

/** Whether nothing else of its node can run, or watches it, but for threads that were put aside as they spin. */
const watchesAlone = (thread: HeldThread): boolean =>
  thread.process.node.threads.every(other => other === thread || other.spinsAside || (!other.napping && sleeps(other)))

/** The process that a thread belongs to; undefined when it is gone. */
const threadGroupOf = (tid: number): number | undefined => {
  try {
    const line = /^Tgid:\s*(\d+)$/m.exec(readFileSync(`/proc/${tid}/status`, 'utf8'))
    return line ? Number(line[1]) : undefined
  } catch {
    return undefined
  }
}
