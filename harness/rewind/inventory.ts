import { readFileSync, readlinkSync } from 'node:fs'
import { withDuplicate } from '../hold/descriptor.ts'
import type { HeldNode, HeldThread } from '../hold/held-node.ts'
import { lastingCallsOf } from '../hold/lasting-calls.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { makeCalls } from './batch.ts'
import { CannotRewind } from './error.ts'
import type { Descriptor } from './open-descriptors.ts'
import { settingsOf } from './socket-options.ts'

/** What the kernel knows of a process, by what it is: equal texts for equal things. */
export type Inventory = ReadonlyMap<string, string>

/**
 * All that a program may have set or left in the kernel and that bringing it back does not restore: it is compared, and
 * a life in which it is not what it was is not lived again. Memory, threads, signals, timers, what is open and what it
 * shows are marked elsewhere.
 *
 * @param thread of it, frozen, whose registers are lost
 * @param open what it has open
 */
export const inventoryOf = (thread: HeldThread, open: readonly Descriptor[]): Inventory => {
  const { pid } = thread.process
  return new Map([
    ['user, groups, umask, capabilities or name', settingsIn(read(pid, 'status'))],
    ['limits', read(pid, 'limits').replace(/^Max realtime timeout.*\n/m, '')],
    ['timers', read(pid, 'timers')],
    ['root directory', readlinkSync(`/proc/${pid}/root`)],
    ['mounts', read(pid, 'mountinfo')],
    ['priority', /\) \S+(?: \S+){15} (\S+)/.exec(read(pid, 'stat'))?.[1] ?? ''],
    ['score for want of memory', read(pid, 'oom_score_adj')],
    ['personality', read(pid, 'personality')],
    ['choice of what is dumped', read(pid, 'coredump_filter')],
    [kernelsOwn, lastingCallsOf(thread.process)],
    ...kernelObjects(thread),
    ...open.map(descriptor => [`descriptor ${descriptor.fd}`, stateOf(pid, descriptor)] as const),
  ])
}

/** @throws CannotRewind where something is not what it was */
export const requireSame = (before: Inventory, now: Inventory): void => {
  for (const [name, text] of before)
    if (now.get(name) !== text) throw new CannotRewind(`its ${name} changed: ${firstChange(text, now.get(name) ?? '')}`)
}

/** Lines alone that differ. */
const firstChange = (before: string, now: string): string => {
  const [was, is] = [before.split('\n'), now.split('\n')]
  const at = was.findIndex((line, index) => line !== is[index])
  const show = (line: string | undefined) => JSON.stringify((line ?? '').slice(0, 120))
  return `${show(was[at === -1 ? was.length : at])}, then ${show(is[at === -1 ? was.length : at])}`
}

/** Of files in /proc/P that not every kernel has. */
const read = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

const settings =
  /^(?:Name|Umask|Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*|Speculation_\w+|CoreDumping|THP_enabled):.*$/gm

const settingsIn = (status: string): string => (status.match(settings) ?? []).join('\n')

/** What calls have changed that cannot be read. */
const kernelsOwn = 'calls that leave something in the kernel'

/** SEM_INFO, MSG_INFO and SHM_INFO tell how many there are of all; struct seminfo, msginfo and shm_info. */
const [semaphoreInfo, queueInfo, memoryInfo] = [19, 12, 14]
const infoLength = 128
/** In struct seminfo: semusz. In the others it is the first field. */
const semaphoresOffset = 28
const none = '0 0 0'
const systemV = 'semaphores, message queues or shared memory of System V'

/** What is of namespaces, and has to be asked for inside. */
const kernelObjects = (thread: HeldThread): [string, string][] => {
  const [semaphores, queues, memory] = [infoLength, infoLength, infoLength].map(length => Buffer.alloc(length))
  const names = Buffer.alloc(390)
  makeCalls(thread, [
    [syscallNumber.semctl, 0, 0, semaphoreInfo, semaphores!],
    [syscallNumber.msgctl, 0, queueInfo, queues!],
    [syscallNumber.shmctl, 0, memoryInfo, memory!],
    [syscallNumber.uname, names],
  ])
  const counts = [semaphores!.readInt32LE(semaphoresOffset), queues!.readInt32LE(0), memory!.readInt32LE(0)]
  return [
    [systemV, counts.join(' ')],
    ['host name', names.toString('latin1').replaceAll('\0', ' ')],
  ]
}

/** @throws CannotRewind where it has what can neither be restored nor compared */
export const requireComparable = (inventory: Inventory, { hasQueues }: HeldNode): void => {
  if (hasQueues) throw new CannotRewind('it has a message queue of POSIX')
  if (inventory.get(systemV) !== none) throw new CannotRewind(`it has ${systemV}`)
}

/** Flags and locks of what is open, and how a socket is set. A position, a count, what is watched: they are restored. */
const stateOf = (pid: number, { fd, kind, info }: Descriptor): string => {
  const lines = info.match(/^(?:flags|lock):.*$/gm) ?? []
  const isSocket = kind === 'listener' || kind === 'datagrams' || kind === 'local'
  return [...lines, ...(isSocket ? (withDuplicate(pid, fd, settingsOf) ?? []) : [])].join('\n')
}
