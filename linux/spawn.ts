import { libc, SystemError } from './libc.ts'

/** A program to start from this thread, in the thread's namespaces. */
export interface Program {
  readonly path: string
  /** The first is the program's own name. */
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
  /**
   * Descriptors of this process, each with its number in the new one. The new process has no others but an empty input.
   */
  readonly descriptors: readonly (readonly [own: number, number: number])[]
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

const readOnly = 0
const spawnFlags = 0x04 | 0x08 | 0x80 // SETSIGDEF, SETSIGMASK, SETSID

/**
 * Starts the program with default signal handling in a session of its own, and returns its process id. libuv is not
 * used, because its own waiting would take the tracer's stops.
 *
 * @throws SystemError
 */
export const spawn = (program: Program): number => {
  const actions = Buffer.alloc(256)
  const attributes = Buffer.alloc(512)
  actionsInit(actions)
  attributesInit(attributes)
  try {
    addOpen(actions, 0, '/dev/null', readOnly, 0)
    for (const [own, number] of program.descriptors) addDup2(actions, own, number)
    addChdir(actions, program.directory)
    setFlags(attributes, spawnFlags)
    setDefaultSignals(attributes, Buffer.alloc(128, 0xff))
    setMask(attributes, Buffer.alloc(128))
    const environment = Object.entries(program.environment).map(([name, value]) => `${name}=${value}`)
    const pid: [number] = [0]
    const failed = posixSpawn(
      pid,
      program.path,
      actions,
      attributes,
      [...program.arguments, null],
      [...environment, null],
    )
    if (failed !== 0) throw new SystemError(`posix_spawn ${program.path} in ${program.directory}`, failed)
    return pid[0]
  } finally {
    actionsDestroy(actions)
    attributesDestroy(attributes)
  }
}
