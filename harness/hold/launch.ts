import { closeSync, writeSync } from 'node:fs'
import koffi from 'koffi'
import {
  CLONE_NEWIPC,
  CLONE_NEWNET,
  CLONE_NEWNS,
  CLONE_NEWPID,
  CLONE_NEWUTS,
  check,
  errno,
  libc,
  read,
  setns,
  unshare,
} from '../../proxy/libc.ts'
import { awayFromHome } from './away.ts'
import { applyMounts, isolateMounts, type MountPlan } from './mounts.ts'
import { pipe } from './pipe.ts'
import { spawn } from './spawn.ts'

export interface Launch {
  /** Path of the executable, then its arguments. */
  readonly command: readonly [string, ...string[]]
  readonly environment: Readonly<Record<string, string>>
  /** As the node sees it. */
  readonly directory: string
  /** Descriptors that its output goes to. */
  readonly stdout: number
  readonly stderr: number
  readonly hostname: string
  /** Descriptor of the network namespace that it lives in. */
  readonly network: number
  readonly mounts: MountPlan
}

/** A process that waits, as pid 1 of its own pid namespace, to be let into its program. */
export interface Launched {
  readonly pid: number
  /** Whether its /proc shows its own pid namespace already. */
  readonly isContainer: boolean
  /** Lets it exec. */
  release(): void
}

const setPersonality = libc.func('int personality(unsigned long persona)')
const setHostname = libc.func('int sethostname(const char *name, size_t length)')

const noAddressRandomisation = 0x0040000

/** The new process says that it is there, and waits for a line; it ends where this tool does before. */
const trampoline = 'echo >&8; read -r _ <&9 || exit; exec 8>&- 9<&-; exec "$@"'

/**
 * Starts a program in namespaces of its own (pid, mount, host name, IPC, and the network given), without address
 * randomisation, with default signal handling, in a session of its own. It waits to be released.
 *
 * @throws SystemError
 */
export const launch = (plan: Launch): Launched => {
  const gate = pipe()
  const ready = pipe()
  try {
    const pid = inNamespacesOf(plan, () => spawnTrampoline(plan, gate.readEnd, ready.writeEnd))
    closeSync(ready.writeEnd)
    awaitByte(ready.readEnd, pid)
    return { pid, isContainer: false, release: () => release(gate.writeEnd) }
  } catch (error) {
    closeSync(gate.writeEnd)
    throw error
  } finally {
    closeSync(gate.readEnd)
    closeSync(ready.readEnd)
  }
}

const release = (gate: number) => {
  writeSync(gate, '\n')
  closeSync(gate)
}

/** The trampoline's own exec must be over when it is seized: it would be taken for the program's. */
const awaitByte = (readEnd: number, pid: number) => {
  if (check('read', read(readEnd, Buffer.alloc(1), 1)) !== 1) throw new Error(`/bin/sh did not start as process ${pid}`)
}

/** Runs `inside` with this thread's namespaces, and what its children inherit, set for the node. */
const inNamespacesOf = <Result>(plan: Launch, inside: () => Result): Result =>
  awayFromHome(() => {
    const persona = setPersonality(noAddressRandomisation)
    try {
      check('setns(net)', setns(plan.network, CLONE_NEWNET))
      check('unshare', unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID))
      check('sethostname', setHostname(plan.hostname, Buffer.byteLength(plan.hostname)))
      isolateMounts()
      applyMounts(plan.mounts)
      return inside()
    } finally {
      setPersonality(persona)
    }
  })

const spawnTrampoline = (plan: Launch, gate: number, ready: number): number =>
  spawn({
    path: '/bin/sh',
    arguments: ['sh', '-c', trampoline, 'sh', ...plan.command],
    environment: plan.environment,
    directory: plan.directory,
    descriptors: [
      [ready, 8],
      [gate, 9],
      [plan.stdout, 1],
      [plan.stderr, 2],
    ],
  })

const kill = libc.func('int kill(int pid, int signal)')

/** Sends a signal to a process that this run started; false when it is gone. */
export const sendSignal = (pid: number, signal: number): boolean => {
  if (kill(pid, signal) === 0) return true
  if (koffi.errno() === errno.ESRCH) return false
  return check('kill', -1) === 0
}
