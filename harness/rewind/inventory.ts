import { readlinkSync } from 'node:fs'
import { withDuplicate } from '../../linux/descriptor.ts'
import { KernelFile, readKernelFile } from '../../linux/kernel-file.ts'
import type { ProcessMemory } from '../../linux/memory.ts'
import { procStatusOf } from '../../linux/signals.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import { lastingCallsOf } from '../hold/calls/lasting-calls.ts'
import type { HeldNode, HeldProcess } from '../hold/held/held-node.ts'
import type { RawCall } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import type { Descriptor } from './open-descriptors.ts'
import { settingsOf } from './socket-options.ts'

/** What the kernel knows of a process, by topic: equal texts for equal states. */
export type Inventory = ReadonlyMap<string, string>

/**
 * Everything in the kernel that a program may have set or left and that rewinding does not restore. It is compared, and
 * a life in which it differs is not lived again. Memory, threads, signals, timers and open descriptors are marked
 * elsewhere.
 *
 * @param asked what the process said when it was asked
 *
 * @param open its open descriptors
 */
export const inventoryOf = (process: HeldProcess, asked: AskedProcess, open: readonly Descriptor[]): Inventory => {
  const { pid } = process
  return new Map([
    ['user, groups, umask, capabilities or name', settingsIn(asked.status)],
    ['limits', read(process, 'limits').replace(/^Max realtime timeout.*\n/m, '')],
    ['timers', read(process, 'timers')],
    ['root directory', readlinkSync(`/proc/${pid}/root`)],
    ['mounts', readKernelFile(`/proc/${pid}/mountinfo`)],
    ['priority', /\) \S+(?: \S+){15} (\S+)/.exec(read(process, 'stat'))?.[1] ?? ''],
    ['score for want of memory', read(process, 'oom_score_adj')],
    ['personality', read(process, 'personality')],
    ['choice of what is dumped', read(process, 'coredump_filter')],
    [kernelsOwn, lastingCallsOf(process)],
    ...asked.objects(),
    ...open.map(descriptor => [`descriptor ${descriptor.fd}`, stateOf(pid, descriptor)] as const),
  ])
}

/** What a process is asked before its inventory is made. */
export interface AskedProcess {
  /** Content of its /proc/P/status. */
  readonly status: string
  /** Calls about objects of namespaces, which must be made inside. */
  readonly calls: readonly RawCall[]
  /** Their answers, once the calls have been made. */
  objects(): [topic: string, text: string][]
}

/** Whether a child of the process has ended without being waited for. */
export const hasEndedChild = (inventory: Inventory): boolean => inventory.get(unreaped) !== ''

/** @throws CannotRewind if something differs */
export const requireSameInventory = (before: Inventory, now: Inventory): void => {
  for (const [name, text] of before)
    if (now.get(name) !== text) throw new CannotRewind(`its ${name} changed: ${firstChange(text, now.get(name) ?? '')}`)
}

/** The first line that differs. */
const firstChange = (before: string, now: string): string => {
  const [was, is] = [before.split('\n'), now.split('\n')]
  const at = was.findIndex((line, index) => line !== is[index])
  const show = (line: string | undefined) => JSON.stringify((line ?? '').slice(0, 120))
  return `${show(was[at === -1 ? was.length : at])}, then ${show(is[at === -1 ? was.length : at])}`
}

/** Open files of each process in /proc; closed together with its memory. */
const files = new WeakMap<ProcessMemory, Map<string, KernelFile>>()

/** Content of a file in /proc/P that not every kernel has. */
const read = ({ pid, memory }: HeldProcess, name: string): string => {
  const own = files.get(memory) ?? new Map<string, KernelFile>()
  files.set(memory, own)
  try {
    let file = own.get(name)
    if (file === undefined) {
      file = new KernelFile(`/proc/${pid}/${name}`)
      memory.closeToo(file.descriptor)
      own.set(name, file)
    }
    return file.read()
  } catch {
    return ''
  }
}

const settings =
  /^(?:Name|Umask|Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*|Speculation_\w+|CoreDumping|THP_enabled):.*$/gm

const settingsIn = (status: string): string => (status.match(settings) ?? []).join('\n')

/** Topic for effects of calls that cannot be read back. */
const kernelsOwn = 'calls that leave something in the kernel'

/** SEM_INFO, MSG_INFO and SHM_INFO return how many objects there are, in struct seminfo, msginfo and shm_info. */
const [semaphoreInfo, queueInfo, memoryInfo] = [19, 12, 14]
const infoLength = 128
/** Offset of semusz in struct seminfo. In the other structures it is the first field. */
const semaphoresOffset = 28
const anyChild = 0
/** WEXITED, WNOHANG, WNOWAIT and __WALL: also children that do not report their end by SIGCHLD. */
const whoseEndIsNotTaken = 4 | 1 | 0x100_0000 | 0x4000_0000
/** Offset of si_pid in siginfo_t; 0 there means no child. */
const childOffset = 16
const unreaped = 'child that has ended and was not waited for'
const systemV = 'semaphores or message queues of System V'
const segments = 'segments of System V'

export const askProcess = ({ pid }: HeldProcess): AskedProcess => {
  const [semaphores, queues, memory] = [infoLength, infoLength, infoLength].map(length => Buffer.alloc(length))
  const names = Buffer.alloc(390)
  const child = Buffer.alloc(infoLength)
  return {
    status: procStatusOf(pid),
    calls: [
      [syscallNumber.waitid, anyChild, 0, child, whoseEndIsNotTaken],
      [syscallNumber.semctl, 0, 0, semaphoreInfo, semaphores!],
      [syscallNumber.msgctl, 0, queueInfo, queues!],
      [syscallNumber.shmctl, 0, memoryInfo, memory!],
      [syscallNumber.uname, names],
    ],
    objects() {
      const [sets, heads] = [semaphores!.readInt32LE(semaphoresOffset), queues!.readInt32LE(0)]
      return [
        [unreaped, child.readInt32LE(childOffset) === 0 ? '' : 'yes'],
        [systemV, sets + heads === 0 ? '' : `${sets} and ${heads}`],
        [segments, String(memory!.readInt32LE(0))],
        ['host name', names.toString('latin1').replaceAll('\0', ' ')],
      ]
    },
  }
}

/** How many segments of shared memory of System V the namespace of a process has. */
export const segmentsIn = (inventory: Inventory): number => Number(inventory.get(segments))

/** @throws CannotRewind for something that can be neither restored nor compared */
export const requireComparable = (inventory: Inventory, { hasQueues }: HeldNode): void => {
  if (hasEndedChild(inventory)) throw new CannotRewind('it has not waited for a child that has ended')
  if (hasQueues) throw new CannotRewind('it has a message queue of POSIX')
  if (inventory.get(systemV) !== '') throw new CannotRewind(`it has ${systemV}`)
}

/**
 * Flags and locks of an open descriptor, and options of a socket. Positions, counts and watches are restored instead.
 */
const stateOf = (pid: number, { fd, kind, info }: Descriptor): string => {
  const lines = info.match(/^(?:flags|lock|sigmask):.*$/gm) ?? []
  const isSocket = ['listener', 'unused', 'datagrams', 'netlink', 'local'].includes(kind)
  return [...lines, ...(isSocket ? (withDuplicate(pid, fd, settingsOf) ?? []) : [])].join('\n')
}
