import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CLONE_NEWNET, libc, requireSuccess, setns } from '../../linux/libc.ts'
import { Registers } from '../../linux/ptrace.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import { patchVdso } from '../hold/clock/vdso.ts'
import type { HeldNode, HeldThread } from '../hold/held/held-node.ts'
import { openRoot } from '../hold/start/launch.ts'
import { enterFiles, type LocalMountPlan } from '../hold/start/machine-files.ts'
import { makeCalls } from '../rewind/calls/batch.ts'
import { CannotRewind } from '../rewind/calls/error.ts'
import { lastThreadId, setLastId } from '../rewind/last-id.ts'
import { registersBeforeWait } from '../rewind/thread-mark.ts'
import type { Runner } from '../runner/runner.ts'
import type { Criu } from './criu.ts'
import { CannotCheckpoint } from './error.ts'
import { adoptProcesses, type HeldMark, markHeld } from './held-mark.ts'
import { mountProc } from './mount-proc.ts'
import { mustHaveSucceeded, runCriu } from './run-criu.ts'
import { borrowing, firstThreadOf, letGo, takeAgain } from './stopped.ts'
import { enterMounts, inNewView, inViewOfNode } from './view.ts'

const setPersonality = libc.func('int personality(unsigned long persona)')
const noAddressRandomisation = 0x0040000

/** The namespaces and outputs of a node's processes. */
export interface Surroundings {
  /** Descriptor of its network namespace. */
  readonly network: number
  /** Descriptors of its output. */
  readonly outputs: readonly number[]
}

/** The processes of a node, in files. */
export interface NodeImage {
  /** Directory of these files. */
  readonly directory: string
  readonly held: HeldMark
  readonly lastId: number
  /** CRIU's names for its outputs. */
  readonly outputs: readonly string[]
}

/** The router holds what connections carry, so the network need not be locked. */
const common = ['--tcp-established', '--network-lock', 'skip', '--file-locks', '--manage-cgroups=ignore']
const pidFile = 'pid'
const setTimestampCounter = 26
const faultOnRead = 2

/**
 * Writes the processes of a quiescent node to a new directory. The node continues, and must settle again.
 *
 * @throws CannotCheckpoint
 */
export const dump = (
  criu: Criu,
  runner: Runner,
  node: HeldNode,
  { network, outputs }: Surroundings,
  directory: string,
): NodeImage => {
  // CRIU cannot restore a program that is no file.
  if (node.processes.get(node.pid)?.isInit) throw new CannotCheckpoint('its first process has ended before others')
  if (node.threads.some(thread => thread.isStoppedBySignal)) throw new CannotCheckpoint('it is stopped by a signal')
  mkdirSync(directory)
  runner.endKeptThreads(node)
  runner.freeze(node)
  try {
    const waits = node.threads.map(thread => ({ thread, registers: prepareWait(thread) }))
    const image = { directory, held: markHeld(node), lastId: lastThreadId(node), outputs: outputs.map(nameOfOutput) }
    letGo(node)
    try {
      writeImage(criu, node.pid, network, image)
    } finally {
      takeAgainOrAbandon(runner, node, image.held, waits)
    }
    return image
  } finally {
    runner.tracer.stopped.thaw(node)
  }
}

/**
 * Restores the processes in namespaces of their own, in a network with the same address. They are frozen until `thaw`.
 *
 * @param node without processes
 *
 * @throws CannotCheckpoint, after which no process is left
 */
export const restore = (
  criu: Criu,
  runner: Runner,
  node: HeldNode,
  image: NodeImage,
  { network, outputs }: Surroundings,
  mounts: LocalMountPlan,
): void => {
  const pid = readImage(criu, image, { network, outputs }, mounts, node)
  try {
    adoptProcesses(runner.tracer, node, image.held, pid)
    node.frozen = true
    takeAgain(node, image.held)
    makeOurs(node, image.lastId)
  } catch (error) {
    runner.tracer.abandon(node)
    throw error
  }
}

const prepareWait = ({ tid }: HeldThread): Registers => {
  try {
    const registers = registersBeforeWait(tid)
    registers.store(tid)
    return registers
  } catch (error) {
    throw error instanceof CannotRewind ? new CannotCheckpoint(error.message) : error
  }
}

const nameOfOutput = (own: number): string => {
  const mount = Number(/^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${own}`, 'latin1'))![1])
  return `file[${mount.toString(16)}:${fstatSync(own).ino.toString(16)}]`
}

/** CRIU runs its own code in the processes. If CRIU is killed, the processes stay in that state. */
const takeAgainOrAbandon = (
  runner: Runner,
  node: HeldNode,
  mark: HeldMark,
  waits: readonly { thread: HeldThread; registers: Registers }[],
): void => {
  try {
    takeAgain(node, mark)
    const now = new Registers()
    const isAsItWas = waits.every(({ thread, registers }) => now.load(thread.tid) && now.equals(registers))
    if (!isAsItWas) throw new CannotCheckpoint('its registers have changed')
  } catch (error) {
    runner.tracer.abandon(node)
    throw new CannotCheckpoint(`it was lost: ${(error as Error).message}`)
  }
}

const writeImage = (criu: Criu, pid: number, network: number, { directory, outputs }: NodeImage): void => {
  const images = openSync(directory, 'r')
  const mounts = openSync(`/proc/${pid}/ns/mnt`, 'r')
  // Stopped processes stay stopped. With `--leave-stopped`, connections would stay locked.
  const args = ['--tree', String(pid), '--leave-running', ...outputs.flatMap(name => ['--external', name])]
  try {
    const failed = inViewOfNode(
      () => {
        requireSuccess('setns(net)', setns(network, CLONE_NEWNET))
        enterMounts(mounts)
      },
      () => runCriu(criu, 'dump', images, [...common, ...args], []),
    )
    mustHaveSucceeded('dump', failed, directory)
  } finally {
    closeSync(mounts)
    closeSync(images)
  }
}

/** Returns the id of the first process, stopped by SIGSTOP. */
const readImage = (
  criu: Criu,
  { directory, outputs: names }: NodeImage,
  { network, outputs }: Surroundings,
  mounts: LocalMountPlan,
  node: HeldNode,
): number => {
  const images = openSync(directory, 'r')
  const own = outputs.flatMap((fd, index) => ['--inherit-fd', `fd[${fd}]:${names[index]}`])
  const args = ['--restore-detached', '--restore-sibling', '--leave-stopped', '--pidfile', pidFile, ...own]
  const pidPath = join(directory, pidFile)
  rmSync(pidPath, { force: true })
  const persona = setPersonality(noAddressRandomisation)
  try {
    const failed = inNewView(
      () => {
        requireSuccess('setns(net)', setns(network, CLONE_NEWNET))
        enterFiles(mounts)
        node.root = openRoot()
      },
      () => runCriu(criu, 'restore', images, [...common, ...args], outputs),
    )
    mustHaveSucceeded('restore', failed, directory)
    return Number(readFileSync(pidPath, 'latin1'))
  } finally {
    setPersonality(persona)
    closeSync(images)
  }
}

/** Restores what an image lacks: the node's own /proc, the vDSO that reads our page, the trapped counter. */
const makeOurs = (node: HeldNode, lastId: number): void => {
  mountProc(node.pid)
  const first = firstThreadOf(node)
  borrowing(first, () => setLastId(first, lastId))
  for (const { pid, memory } of node.processes.values()) patchVdso(pid, memory)
  for (const thread of node.threads)
    borrowing(thread, () => makeCalls(thread, [[syscallNumber.prctl, setTimestampCounter, faultOnRead]]))
}
