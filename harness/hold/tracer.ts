import {
  changeSignalInfo,
  event,
  foreignChildren,
  getCallBorder,
  getEventMessage,
  getSignalInfo,
  poll,
  Registers,
  seize,
  type ThreadChange,
  ThreadEnded,
  wait,
} from '../../linux/ptrace.ts'
import { endsFirst, isCaught, polite } from '../../linux/signals.ts'
import { syscallName, syscallNumber } from '../../linux/syscall-number.ts'
import { readsClock } from './calls/clock-calls.ts'
import { hasDoneElse, isPoll } from './calls/polls.ts'
import { receiveFromTimer } from './calls/posix-timer.ts'
import { losesPower } from './calls/power-failure.ts'
import { givesWay, isNoticed } from './calls/preemption.ts'
import { restart } from './calls/treatment.ts'
import { foreignCall } from './filter.ts'
import { enterCall, exitCall } from './filtered.ts'
import type { CallRecorder } from './held/call-recorder.ts'
import type { HeldNode, HeldThread } from './held/held-node.ts'
import { HeldThreads } from './held/held-threads.ts'
import { drawNumber } from './instructions/hardware-random.ts'
import { readCounter } from './instructions/timestamp-counter.ts'
import { disarmAll, disarmAtExec, leaveTimers } from './kernel-timers.ts'
import { prepare } from './prepare.ts'
import { Spinners } from './rest/spinners.ts'
import { Stepper } from './rest/stepper.ts'
import { StoppedThreads, turnOverSignal } from './rest/stopped-threads.ts'
import { becomeInit, hasOthers } from './start/init.ts'
import { type Launched, sendSignal } from './start/launch.ts'
import { isEnding } from './turns/is-ending.ts'
import { nap } from './turns/turns.ts'

const trapSignal = 5
const killSignal = 9
const faultSignal = 11
const badCallSignal = 31
/** SI_KERNEL */
const sentByKernel = 0x80
const noSuchCall = -38
/** SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU */
const stopSignals = [19, 20, 21, 22]

/**
 * Holds processes: follows every one of their threads and children, and treats what the filter stops. One for each
 * `Runner`, on its thread; nothing happens but in `poll`.
 */
export class Tracer {
  readonly threads = new HeldThreads()
  /** Freezes nodes and lets them go on. */
  readonly stopped = new StoppedThreads(this)
  /** Makes threads that compute or yield for long give way. */
  readonly spinners = new Spinners(this.threads, this.stopped, (thread, change) => this.#treatHeld(thread, change))
  /** Executes threads instruction by instruction where they may give way at one of them. */
  readonly stepper = new Stepper(this.spinners, this.stopped, (thread, change) => this.#treatHeld(thread, change))
  /** First stops of children that came before their parent's report. */
  readonly #early = new Set<number>()
  readonly #registers = new Registers()
  /** Set, it sees every system call of every thread; it has to be there before they begin. */
  recorder: CallRecorder | undefined

  /** Takes hold of a launched process that waits to be released. */
  hold(node: HeldNode, { pid, isContainer, root }: Launched): void {
    node.root = root
    seize(pid)
    node.pid = pid
    node.isContainer = isContainer
    this.threads.add(this.threads.addProcess(pid, node), pid, node.originOf(undefined))
  }

  /** Treats all that has happened; true if anything had. */
  poll(): boolean {
    let happened = false
    for (let change = this.#next(); change !== undefined; change = this.#next()) {
      happened = true
      this.#treat(change)
    }
    return happened
  }

  #next(): ThreadChange | undefined {
    if (foreignChildren.count === 0) return poll()
    for (const tid of this.threads.tids) {
      const change = poll(tid)
      if (change !== undefined) return change
    }
    return undefined
  }

  /** Kills a node some of whose threads are not traced, and forgets it. */
  abandon(node: HeldNode): void {
    const tids = new Set([node.pid, ...node.threads.map(({ tid }) => tid)])
    for (const thread of node.threads) this.threads.forget(thread)
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

  #treat(change: ThreadChange): void {
    const thread = this.threads.get(change.tid)
    if (thread === undefined) {
      if (change.kind === 'event') this.#early.add(change.tid)
      return
    }
    try {
      this.#treatHeld(thread, change)
      if (thread.process.node.ending) this.#keepProcess(thread.process.node)
    } catch (error) {
      // Somebody else killed the process meanwhile: the kernel reports its end next.
      if (!isEnding(thread.process.pid)) throw error
    }
  }

  #treatHeld(thread: HeldThread, change: ThreadChange): void {
    switch (change.kind) {
      case 'exited':
        return this.#end(thread, { code: change.code })
      case 'killed':
        return this.#end(thread, { signal: change.signal })
      case 'syscall':
        if (this.#seesCall(thread) || this.recorder?.atEntry(thread)) return this.stopped.goOn(thread)
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
        this.#awaitFirstStop(this.threads.addChild(thread, getEventMessage(thread.tid)))
        return this.stopped.goOn(thread)
      case event.exec:
        return this.#exec(thread)
      case event.seccomp:
        return this.#enterCall(thread)
      case event.stop:
        return this.#stop(thread, signal)
      default:
        return this.stopped.goOn(thread)
    }
  }

  #enterCall(thread: HeldThread): void {
    if (!this.#registers.load(thread.tid) || this.#keepsEnd(thread) || this.#keepsPowerless(thread)) return
    const name = syscallName(this.#registers.get('origRax'))
    if (givesWay(thread.process.node.waitingFaults, name)) this.spinners.giveWay(thread)
    if (isNoticed(name)) this.stepper.begin(thread)
    const treatment = enterCall(thread, this.#registers, this.recorder !== undefined)
    this.#registers.storeChanges(thread.tid)
    this.spinners.afterCall(thread)
    thread.napping = treatment === 'nap'
    if (treatment === 'yield' && this.spinners.yield(thread, this.#registers)) return
    if (thread.napping) thread.resumption = { toSyscall: false, signal: 0 }
    else this.stopped.resume(thread, { toSyscall: treatment === 'exit' || thread.instructionsLeft > 0, signal: 0 })
  }

  /** True where the power of its node fails before the call: the whole node stops where it is. */
  #keepsPowerless(thread: HeldThread): boolean {
    if (!losesPower(thread, this.#registers, syscallName(this.#registers.get('origRax')))) return false
    thread.resumption = { toSyscall: false, signal: 0 }
    this.stopped.freeze(thread.process.node)
    return true
  }

  /** True where the call would end the thread or its process, and that is kept instead. */
  #keepsEnd(thread: HeldThread): boolean {
    const { process } = thread
    const { node } = process
    switch (this.#registers.get('origRax')) {
      case syscallNumber.exit:
        return node.keeper?.keepThread(thread) ?? false
      case syscallNumber.exit_group:
        if (this.#livesOn(thread)) return true
        if (node.frozen || !node.keeper?.canKeep(process)) return false
        node.ending = process.isInit ? node.lastEnd : { code: this.#registers.get('rdi') & 0xff }
        thread.resumption = { toSyscall: false, signal: 0 }
        this.stopped.freeze(node)
        this.#keepProcess(node)
        return true
      default:
        return false
    }
  }

  /** A first process that ends well makes way for the others. A container ends with it in any case. */
  #livesOn(thread: HeldThread): boolean {
    const { process } = thread
    const { node } = process
    const code = this.#registers.get('rdi') & 0xff
    if (process.pid !== node.pid || code !== 0 || process.isInit || node.init === 'refused') return false
    if (!hasOthers(thread)) return false
    if (node.isContainer) {
      node.note('its first process ended with code 0, and others with it, because a container ends with its first one')
      return false
    }
    disarmAll(process)
    node.lastEnd = { code: 0 }
    node.init = becomeInit(thread, this.#registers) ? 'made' : 'refused'
    if (node.init === 'refused')
      node.note('its first process ended with code 0, and others with it: this machine executes no file in memory')
    this.#registers.store(thread.tid)
    this.stopped.goOn(thread)
    return true
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
      return this.stopped.goOn(thread)
    }
    if (signal === trapSignal && this.#registers.load(thread.tid) && drawNumber(thread, this.#registers)) {
      this.#registers.store(thread.tid)
      return this.stopped.goOn(thread)
    }
    if (signal === trapSignal && thread.instructionsLeft > 0) return this.stepper.goOn(thread)
    if (signal === badCallSignal && getSignalInfo(thread.tid).errno === foreignCall) return this.#refuseForeign(thread)
    if (signal === turnOverSignal && getSignalInfo(thread.tid).code === sentByKernel) {
      return this.spinners.endTurn(thread)
    }
    const { pid, node, expiries } = thread.process
    if (expiries.size > 0) changeSignalInfo(thread.tid, info => receiveFromTimer(thread.process, info))
    // The call is not entered again after a handler.
    if (thread.resumed && isCaught(pid, signal)) thread.resumed = undefined
    if (pid === node.pid && endsFirst(pid, signal, node.isContainer)) this.#killFirst(node, signal)
    else this.stopped.resume(thread, { toSyscall: false, signal })
  }

  #refuseForeign(thread: HeldThread): void {
    thread.process.node.note('system calls of i386 and x32 are refused with ENOSYS: only those of x86-64 are held')
    if (!this.#registers.load(thread.tid)) return
    this.#registers.set('rax', noSuchCall)
    this.#registers.store(thread.tid)
    this.stopped.goOn(thread)
  }

  /** Ends a node that exceeds a limit. */
  endExceeding(node: HeldNode, what: string): void {
    node.exceeded = `${what}, and was ended`
    node.note(node.exceeded)
    this.#killFirst(node, killSignal)
  }

  #killFirst(node: HeldNode, signal: number): void {
    node.endedBy ??= signal
    sendSignal(node.pid, killSignal)
  }

  #exitCall(thread: HeldThread): void {
    if (!this.#registers.load(thread.tid)) return
    exitCall(thread, this.#registers)
    this.#registers.storeChanges(thread.tid)
    this.spinners.afterCall(thread)
    this.recorder?.atExit(thread)
    // The stop that the tool asked for does not come after another one.
    if (thread.interrupted) this.#finishInterruption(thread)
    this.stopped.goOn(thread)
  }

  /** Whether a watched thread is at the entry of a call. */
  #seesCall(thread: HeldThread): boolean {
    if (!thread.isWatched) return false
    const border = getCallBorder(thread.tid)
    if (border?.at !== 'entry') return false
    const { number } = border
    const { clockReads } = thread.process
    const isRead = readsClock(number)
    thread.isWatched = isRead && thread.polls.count > 0
    if (!isRead && clockReads.areMany) clockReads.seeCall()
    if (!isRead && !isPoll(number)) hasDoneElse(thread)
    this.recorder?.atEntry(thread)
    return true
  }

  /** Our own interruption, the first stop of a new thread, or a stop that a signal asked for. */
  #stop(thread: HeldThread, signal: number): void {
    thread.isStoppedBySignal = stopSignals.includes(signal)
    if (thread.isStoppedBySignal) return this.stopped.resume(thread, { toSyscall: false, signal: 0, listens: true })
    if (signal === trapSignal && thread.interrupted) this.#finishInterruption(thread)
    this.stopped.goOn(thread)
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
    for (const former of process.threads) this.threads.forget(former)
    disarmAtExec(process)
    const leader = this.threads.add(process, process.pid, thread)
    const isFirst = process.pid === process.node.pid && !process.isPrepared
    process.isPrepared = true
    process.clockReads.beginProgram()
    prepare(leader, isFirst)
    this.stopped.goOn(leader)
  }

  /**
   * A new thread is ready before the one that made it goes on: who of the two runs first follows from their ranks then,
   * and not from whether this thread slept when one was made.
   */
  #awaitFirstStop(thread: HeldThread | undefined): void {
    if (thread === undefined) return
    this.stepper.begin(thread)
    if (this.#early.delete(thread.tid)) return this.stopped.goOn(thread)
    try {
      this.#treatHeld(thread, wait(thread.tid))
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error
    }
  }

  #end(thread: HeldThread, exit: { code: number } | { signal: number }): void {
    const { process } = thread
    this.threads.forget(thread)
    if (process.threads.size > 0) return
    const { node } = process
    process.memory.close()
    node.processes.delete(process.pid)
    leaveTimers(process)
    if (process.pid !== node.pid) {
      node.lastEnd = 'signal' in exit && polite.has(exit.signal) ? { code: 0 } : exit
      return
    }
    node.ended = undefined
    node.ending = undefined
    const end = process.isInit ? node.lastEnd : exit
    node.exit ??= node.endedBy === undefined ? end : { signal: node.endedBy }
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
