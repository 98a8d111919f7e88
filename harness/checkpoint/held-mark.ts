import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { innerId } from '../../linux/ids.ts'
import type { Nanoseconds, VirtualClock } from '../hold/clock/virtual-clock.ts'
import { descendantsOf } from '../hold/held/descendants.ts'
import type { Exit, HeldThread, NumbersGiven } from '../hold/held/held-node.ts'
import { HeldNode } from '../hold/held/held-node.ts'
import { Randomness, type RandomnessMark } from '../hold/held/randomness.ts'
import type { StepFaults } from '../hold/held/step-faults.ts'
import { markTimers, rewindTimers, type TimersMark } from '../hold/kernel-timers.ts'
import type { Tracer } from '../hold/tracer.ts'
import { CannotCheckpoint } from './error.ts'

/** Our own records of a held node, by the ids of its processes and threads inside of it. Plain data. */
export interface HeldMark {
  /** A copy. */
  readonly clock: VirtualClock
  readonly randomness: RandomnessMark
  readonly counts: NumbersGiven
  readonly hasSocketTimeouts: boolean
  readonly sharesPorts: boolean
  readonly timerfds: number
  readonly mayStrike: HeldNode['mayStrike']
  readonly waitingFaults: Partial<StepFaults>
  /** Deadlines of connections on which nothing gets through. */
  readonly giveUpDeadlines: ReadonlyMap<string, Nanoseconds>
  readonly processes: readonly ProcessMark[]
  /** How the process ended by itself, if it did. */
  readonly exit: Exit | undefined
}

interface ProcessMark {
  readonly pid: number
  readonly isGo: boolean
  readonly begun: Nanoseconds
  /** Whether SIGCHLD is pending. */
  readonly hasChildSignal: boolean
  readonly timers: TimersMark
  readonly threads: readonly ThreadMark[]
}

interface ThreadMark {
  readonly tid: number
  readonly ordinal: number
  readonly randomness: RandomnessMark
  /** The deadline of the wait that the thread enters again. */
  readonly resumed: HeldThread['resumed']
  readonly polls: HeldThread['polls']
}

export const markHeld = (node: HeldNode): HeldMark => ({
  clock: node.clock.copy(),
  randomness: node.randomness.mark(),
  counts: node.counts,
  hasSocketTimeouts: node.hasSocketTimeouts,
  sharesPorts: node.sharesPorts,
  timerfds: node.timerfds,
  mayStrike: node.mayStrike,
  waitingFaults: node.waitingFaults.mark(),
  giveUpDeadlines: new Map([...node.givesUp].flatMap(([label, timer]) => (timer ? [[label, timer.deadline]] : []))),
  exit: node.exit,
  processes: [...node.processes.values()].map(process => ({
    pid: innerId(process.pid),
    isGo: process.isGo,
    begun: process.begun,
    hasChildSignal: hasChildSignal(process.pid),
    timers: markTimers(process),
    threads: [...process.threads].map(({ tid, ordinal, randomness, resumed, polls }) => ({
      tid: innerId(tid),
      ordinal,
      randomness: randomness.mark(),
      resumed,
      polls,
    })),
  })),
})

/** A node with these records and without processes. */
export const heldNodeOf = (name: string, mark: HeldMark): HeldNode => {
  const node = new HeldNode(name, mark.clock.copy(), Randomness.from(mark.randomness), mark.counts)
  node.isStarting = false
  node.exit = mark.exit
  node.hasSocketTimeouts = mark.hasSocketTimeouts
  node.sharesPorts = mark.sharesPorts
  node.timerfds = mark.timerfds
  node.mayStrike = mark.mayStrike
  node.waitingFaults.rewind(mark.waitingFaults)
  node.giveUpDeadlines = mark.giveUpDeadlines
  return node
}

/**
 * Adopts the restored processes; the first one has this id outside. @throws CannotCheckpoint if they differ from the
 * saved ones
 */
export const adoptProcesses = (tracer: Tracer, node: HeldNode, { processes }: HeldMark, pid: number): void => {
  node.pid = pid
  const made = new Map([pid, ...descendantsOf(pid)].map(each => [innerId(each), each]))
  for (const mark of processes) {
    const outer = made.get(mark.pid)
    if (outer === undefined) throw new CannotCheckpoint(`process ${mark.pid} was not made again`)
    const tids = new Map(readdirSync(`/proc/${outer}/task`).map(tid => [innerId(Number(tid)), Number(tid)]))
    const threads = mark.threads.map(({ tid, ordinal, randomness }) => {
      const outerTid = tids.get(tid)
      if (outerTid === undefined) throw new CannotCheckpoint(`thread ${tid} of process ${mark.pid} was not made again`)
      return { tid: outerTid, ordinal, randomness: Randomness.from(randomness) }
    })
    const process = tracer.threads.adopt(node, outer, threads)
    process.isGo = mark.isGo
    process.begun = mark.begun
    rewindTimers(process, mark.timers)
    for (const [index, thread] of [...process.threads].entries()) {
      thread.resumed = mark.threads[index]!.resumed
      thread.polls = mark.threads[index]!.polls
    }
  }
}

const childSignal = 1n << BigInt(constants.signals.SIGCHLD - 1)

const hasChildSignal = (pid: number): boolean => {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return (BigInt(`0x${/^ShdPnd:\s*([0-9a-f]+)$/m.exec(status)![1]}`) & childSignal) !== 0n
}
