import { AT_FDCWD, libc, requireSuccess } from './libc.ts'
import { syscallNumber } from './syscall-number.ts'

/** Calls on mounts for which the C library may be too old. All act on the calling thread's namespace. */

const openTreeNumber = libc.func('syscall', 'long', ['long', 'int', 'const char *', 'unsigned int'])
const moveMountNumber = libc.func('syscall', 'long', [
  'long',
  'int',
  'const char *',
  'int',
  'const char *',
  'unsigned int',
])
const mountSetattrNumber = libc.func('syscall', 'long', [
  'long',
  'int',
  'const char *',
  'unsigned int',
  'void *',
  'size_t',
])
const pivotRootCall = libc.func('int pivot_root(const char *root, const char *old)')
const chdirCall = libc.func('int chdir(const char *path)')

/** OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC */
const cloned = 0o2000001
/** MOVE_MOUNT_F_EMPTY_PATH */
const fromDescriptor = 4
const recursive = 0x8000 // AT_RECURSIVE
const attributesSize = 32

export const mountAttribute = { readOnly: 1, noSetuid: 2, noDevices: 4 } as const

/**
 * Returns the descriptor of a new mount of a path, which is not attached anywhere yet.
 *
 * @param isWhole whether to include all mounts in it
 */
export const openTree = (path: string, isWhole = false): number =>
  requireSuccess(
    `open_tree ${path}`,
    Number(openTreeNumber(syscallNumber.open_tree, AT_FDCWD, path, cloned | (isWhole ? recursive : 0))),
  )

/** Attaches such a mount at a path of this namespace. */
export const moveMount = (tree: number, path: string): void => {
  const moved = moveMountNumber(syscallNumber.move_mount, tree, '', AT_FDCWD, path, fromDescriptor)
  requireSuccess(`move_mount ${path}`, Number(moved))
}

/** Restricts a mount, and with `isWhole` all mounts in it. */
export const restrict = (path: string, attributes: number, isWhole = false): void => {
  const buffer = Buffer.alloc(attributesSize)
  buffer.writeBigUInt64LE(BigInt(attributes), 0)
  const flags = isWhole ? recursive : 0
  const result = mountSetattrNumber(syscallNumber.mount_setattr, AT_FDCWD, path, flags, buffer, buffer.length)
  requireSuccess(`mount_setattr ${path}`, Number(result))
}

export const changeDirectory = (path: string): void => {
  requireSuccess(`chdir ${path}`, chdirCall(path))
}

/** Makes the present directory, a mount point, the root, and mounts the former root over it. */
export const pivotRoot = (): void => {
  requireSuccess('pivot_root', pivotRootCall('.', '.'))
}
