import { closeSync, existsSync, openSync, writeSync } from 'node:fs'
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
  mount,
  read,
  SystemError,
  setns,
  unshare,
} from '../../proxy/libc.ts'

/** What the node's file system shows differently from this machine's. */
export interface MountPlan {
  /** Directories whose changes go to a private layer: the node reads what is there, and writes for itself. */
  readonly overlays: readonly Overlay[]
  /** Files shown in place of others: path in the node, path of the file. */
  readonly files: readonly (readonly [path: string, source: string])[]
  /** Directories that show the files of another one too. */
  readonly additions: readonly (readonly [path: string, source: string])[]
  /** Directories that are empty at each start, in memory. */
  readonly empty: readonly string[]
}

export interface Overlay {
  readonly directory: string
  /** Private layer; its `work` directory is the kernel's own. */
  readonly upper: string
  readonly work: string
}

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
  readonly hasProc: boolean
  /** Lets it exec. */
  release(): void
}

const posixSpawn = libc.func(
  'int posix_spawn(_Out_ int *pid, const char *path, void *actions, void *attributes, const char **argv, const char **envp)',
)
const actionsInit = libc.func('int posix_spawn_file_actions_init(void *actions)')
const actionsDestroy = libc.func('int posix_spawn_file_actions_destroy(void *actions)')
const addOpen = libc.func(
  'int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, int mode)',
)
const addDup2 = libc.func('int posix_spawn_file_actions_adddup2(void *actions, int from, int to)')
const addChdir = libc.func('int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)')
const attributesInit = libc.func('int posix_spawnattr_init(void *attributes)')
const attributesDestroy = libc.func('int posix_spawnattr_destroy(void *attributes)')
const setFlags = libc.func('int posix_spawnattr_setflags(void *attributes, short flags)')
const setDefaultSignals = libc.func('int posix_spawnattr_setsigdefault(void *attributes, void *set)')
const setMask = libc.func('int posix_spawnattr_setsigmask(void *attributes, void *set)')
const setPersonality = libc.func('int personality(unsigned long persona)')
const setHostname = libc.func('int sethostname(const char *name, size_t length)')
const chdir = libc.func('int chdir(const char *path)')
const pipe2 = libc.func('int pipe2(void *ends, int flags)')

const noAddressRandomisation = 0x0040000
const closeOnExec = 0o2000000
const readOnly = 0
const spawnFlags = 0x04 | 0x08 | 0x80 // SETSIGDEF, SETSIGMASK, SETSID
const privatePropagation = 0x4000 | (1 << 18) // MS_REC | MS_PRIVATE
const bind = 0x1000

/** The new process says that it is there, and waits for a line; it ends where this tool does before. */
const trampoline = 'echo >&8; read -r _ <&9 || exit; exec 8>&- 9<&-; exec "$@"'

/**
 * Starts a program in namespaces of its own (pid, mount, host name, IPC, and the network given), without address
 * randomisation, with default signal handling, in a session of its own. It waits to be released.
 *
 * It is spawned by this very thread, and not through libuv, whose own waiting would take the tracer's stops.
 *
 * @throws SystemError
 */
export const launch = (plan: Launch): Launched => {
  const gate = pipe()
  const ready = pipe()
  try {
    const pid = inNamespacesOf(plan, () => spawn(plan, gate.readEnd, ready.writeEnd))
    closeSync(ready.writeEnd)
    awaitByte(ready.readEnd, pid)
    return { pid, hasProc: false, release: () => release(gate.writeEnd) }
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

const pipe = () => {
  const ends = Buffer.alloc(8)
  check('pipe2', pipe2(ends, closeOnExec))
  return { readEnd: ends.readInt32LE(0), writeEnd: ends.readInt32LE(4) }
}

/** The trampoline's own exec must be over when it is seized: it would be taken for the program's. */
const awaitByte = (readEnd: number, pid: number) => {
  if (check('read', read(readEnd, Buffer.alloc(1), 1)) !== 1) throw new Error(`/bin/sh did not start as process ${pid}`)
}

/** Runs `inside` with this thread's namespaces, and what its children inherit, set for the node, and puts all back. */
const inNamespacesOf = <Result>(plan: Launch, inside: () => Result): Result => {
  const home = ['mnt', 'uts', 'ipc', 'net', 'pid'].map(name => openSync(`/proc/thread-self/ns/${name}`, 'r'))
  const directory = process.cwd()
  const persona = setPersonality(noAddressRandomisation)
  try {
    check('setns(net)', setns(plan.network, CLONE_NEWNET))
    check('unshare', unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID))
    check('sethostname', setHostname(plan.hostname, Buffer.byteLength(plan.hostname)))
    check('mount /', mount(null, '/', null, privatePropagation, null))
    applyMounts(plan.mounts)
    return inside()
  } finally {
    for (const fd of home) {
      check('setns', setns(fd, 0))
      closeSync(fd)
    }
    check(`chdir ${directory}`, chdir(directory))
    setPersonality(persona)
  }
}

/** Mounts in the namespace that this thread is in. What is to be shown in a place that is not there is left out. */
export const applyMounts = (plan: MountPlan) => {
  for (const overlay of plan.overlays) mountOverlay(overlay)
  for (const [path, source] of plan.files)
    if (existsSync(path)) check(`mount ${path}`, mount(source, path, null, bind, null))
  for (const [path, source] of plan.additions)
    if (existsSync(path)) mountLayers(path, `lowerdir=${escaped(source)}:${escaped(path)}`)
  for (const path of plan.empty)
    if (existsSync(path)) check(`mount ${path}`, mount('tmpfs', path, 'tmpfs', 0, 'mode=1777'))
}

const mountOverlay = ({ directory, upper, work }: Overlay) => {
  mountLayers(directory, `lowerdir=${escaped(directory)},upperdir=${escaped(upper)},workdir=${escaped(work)}`)
}

const mountLayers = (directory: string, layers: string) => {
  // Attributes that only root may write serve first, those of users in a user namespace.
  if (mount('overlay', directory, 'overlay', 0, layers) === 0) return
  check(`mount overlay ${directory}`, mount('overlay', directory, 'overlay', 0, `userxattr,${layers}`))
}

/** Overlay's options are separated by commas, its lower directories by colons. */
const escaped = (path: string) => path.replaceAll(/[\\,:]/g, '\\$&')

const spawn = (plan: Launch, gate: number, ready: number): number => {
  const actions = Buffer.alloc(256)
  const attributes = Buffer.alloc(512)
  actionsInit(actions)
  attributesInit(attributes)
  try {
    addDup2(actions, ready, 8)
    addDup2(actions, gate, 9)
    addOpen(actions, 0, '/dev/null', readOnly, 0)
    addDup2(actions, plan.stdout, 1)
    addDup2(actions, plan.stderr, 2)
    addChdir(actions, plan.directory)
    setFlags(attributes, spawnFlags)
    setDefaultSignals(attributes, Buffer.alloc(128, 0xff))
    setMask(attributes, Buffer.alloc(128))
    const environment = Object.entries(plan.environment).map(([name, value]) => `${name}=${value}`)
    const pid: [number] = [0]
    const argv = ['sh', '-c', trampoline, 'sh', ...plan.command, null]
    const failed = posixSpawn(pid, '/bin/sh', actions, attributes, argv, [...environment, null])
    if (failed !== 0) throw new SystemError(`posix_spawn in ${plan.directory}`, failed)
    return pid[0]
  } finally {
    actionsDestroy(actions)
    attributesDestroy(attributes)
  }
}

const kill = libc.func('int kill(int pid, int signal)')

/** Sends a signal to a process that this run started; false when it is gone. */
export const sendSignal = (pid: number, signal: number): boolean => {
  if (kill(pid, signal) === 0) return true
  if (koffi.errno() === errno.ESRCH) return false
  return check('kill', -1) === 0
}
