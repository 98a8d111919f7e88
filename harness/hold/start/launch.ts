import { closeSync, constants, openSync, writeSync } from 'node:fs'
import koffi from 'koffi'
import { awayFromHome } from '../../../linux/away.ts'
import { pathOnly } from '../../../linux/inside.ts'
import {
  CLONE_NEWCGROUP,
  CLONE_NEWIPC,
  CLONE_NEWNET,
  CLONE_NEWPID,
  CLONE_NEWUTS,
  errno,
  libc,
  PR_SET_PDEATHSIG,
  pipe,
  read,
  requireSuccess,
  SystemError,
  setns,
  unshare,
} from '../../../linux/libc.ts'
import { ownProc } from '../../../linux/own-proc.ts'
import { dropPrivileges, noNewPrivileges } from '../../../linux/privileges.ts'
import { spawn } from '../../../linux/spawn.ts'
import {
  closeOthers,
  failureIn,
  reportLength,
  type StartCall,
  starter,
  starterDescriptor,
  whatever,
  withCalls,
} from '../../../linux/starter.ts'
import { syscallName } from '../../../linux/syscall-number.ts'
import { enterFiles, type LocalMountPlan } from './machine-files.ts'

export interface Launch {
  /** Path of the executable, then its arguments. */
  readonly command: readonly [string, ...string[]]
  readonly environment: Readonly<Record<string, string>>
  /** Working directory, as the node sees it. */
  readonly directory: string
  /** Descriptors for its output. */
  readonly stdout: number
  readonly stderr: number
  readonly hostname: string
  /** Descriptor of its network namespace. */
  readonly network: number
  readonly mounts: LocalMountPlan
  /**
   * Whether it will be traced. If so, no program in it can gain privileges, as the filter requires, and it ends
   * together with this tool. Otherwise it ends with this thread.
   */
  readonly isHeld: boolean
}

/** A process that waits, as pid 1 of its own pid namespace, to be released into its program. */
export interface Launched {
  readonly pid: number
  /** Whether Docker made it. */
  readonly isContainer: boolean
  /** Descriptor of its root directory. The caller must close it. */
  readonly root: number
  /** Lets it exec. */
  release(): void
}

const setPersonality = libc.func('int personality(unsigned long persona)')
const setHostname = libc.func('int sethostname(const char *name, size_t length)')

const noAddressRandomisation = 0x0040000

/**
 * Starts a program in namespaces of its own (files, pid, host name, IPC, and the given network), without address
 * randomisation, with default signal handling, in a session of its own, and with few privileges. It waits to be
 * released.
 *
 * @throws SystemError
 */
export const launch = (plan: Launch): Launched => {
  const gate = pipe()
  const report = pipe()
  try {
    const { pid, root } = inNamespacesOf(plan, () => ({
      pid: spawnStarter(plan, gate.readEnd, report.writeEnd),
      root: openRoot(),
    }))
    closeSync(report.writeEnd)
    awaitReady(report.readEnd, pid)
    return { pid, isContainer: false, root, release: () => release(gate.writeEnd) }
  } catch (error) {
    closeSync(gate.writeEnd)
    throw error
  } finally {
    closeSync(gate.readEnd)
    closeSync(report.readEnd)
  }
}

const release = (gate: number) => {
  writeSync(gate, '\n')
  closeSync(gate)
}

/** Descriptor of the root of this thread's files. */
export const openRoot = (): number => openSync('/', pathOnly | constants.O_DIRECTORY)

/** The starter's own exec must be over before it is seized, or it would be taken for the program's. */
const awaitReady = (readEnd: number, pid: number) => {
  const bytes = Buffer.alloc(reportLength)
  const length = requireSuccess('read', read(readEnd, bytes, bytes.length))
  if (length === ready.length) return
  if (length < reportLength) throw new Error(`process ${pid} has ended before it could start`)
  const { call, errno } = failureIn(bytes)
  throw new SystemError(`${syscallName(call)} in a node that starts`, errno)
}

/** Runs `inside` in the node's namespaces, with all that its children inherit set for the node. */
const inNamespacesOf = <Result>(plan: Launch, inside: () => Result): Result =>
  awayFromHome(() => {
    const persona = setPersonality(noAddressRandomisation)
    try {
      requireSuccess('setns(net)', setns(plan.network, CLONE_NEWNET))
      enterFiles(plan.mounts)
      requireSuccess('unshare', unshare(CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID))
      requireSuccess('sethostname', setHostname(plan.hostname, Buffer.byteLength(plan.hostname)))
      return inside()
    } finally {
      setPersonality(persona)
    }
  })

const spawnStarter = (plan: Launch, gate: number, report: number): number =>
  withCalls(callsOf(plan), calls =>
    spawn({
      path: `/proc/self/fd/${starter()}`,
      arguments: ['lastnail-starter'],
      environment: plan.environment,
      directory: plan.directory,
      descriptors: [
        [gate, gateDescriptor],
        [report, starterDescriptor.report],
        [calls, starterDescriptor.calls],
        [plan.stdout, 1],
        [plan.stderr, 2],
      ],
    }),
  )

const gateDescriptor = 7
const ready = '\n'
const usualUmask = 0o022
const killSignal = 9

/** The calls of the starter, up to the exec of the program. */
const callsOf = ({ command, environment, isHeld }: Launch): StartCall[] => [
  ...ownProc(),
  // Not by this thread: as an ordinary user it could not come back to the machine's control groups.
  { name: 'unshare', arguments: [CLONE_NEWCGROUP] },
  ...dropPrivileges(),
  isHeld ? noNewPrivileges : { name: 'prctl', arguments: [PR_SET_PDEATHSIG, killSignal] },
  { name: 'umask', arguments: [usualUmask] },
  closeOthers,
  { name: 'write', arguments: [starterDescriptor.report, ready, ready.length], least: ready.length },
  // Reads nothing if this tool ends first.
  { name: 'read', arguments: [gateDescriptor, new Uint8Array(ready.length), ready.length], least: ready.length },
  ...executing(command, environment),
]

/** A shell runs a file that the kernel cannot execute, or reports why it cannot. */
const executing = ([path, ...rest]: Launch['command'], environment: Launch['environment']): StartCall[] => {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const shell = ['sh', '-c', 'exec "$@"', 'sh', path, ...rest]
  return [
    { name: 'execve', arguments: [path, [path, ...rest], variables], least: whatever },
    { name: 'execve', arguments: ['/bin/sh', shell, variables] },
  ]
}

const kill = libc.func('int kill(int pid, int signal)')

/** Sends a signal to a process that this run started; false if the process is gone. */
export const sendSignal = (pid: number, signal: number): boolean => {
  if (kill(pid, signal) === 0) return true
  if (koffi.errno() === errno.ESRCH) return false
  return requireSuccess('kill', -1) === 0
}
