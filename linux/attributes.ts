import { chmodSync, lchownSync, lstatSync, type Stats } from 'node:fs'
import { errno, lastErrno, libc, requireSuccess } from './libc.ts'

/** Extended attributes of files (xattr(7)), which Node has no functions for; links are not followed. */

const listAttributes = libc.func('long llistxattr(const char *path, void *list, size_t size)')
const getAttribute = libc.func('long lgetxattr(const char *path, const char *name, void *value, size_t size)')
const setAttribute = libc.func('int lsetxattr(const char *path, const char *name, void *value, size_t size, int flags)')

/** Longest value that the kernel allows. */
const lengthMax = 65_536
const buffer = Buffer.alloc(lengthMax)

/** By name; empty if the file system has no attributes. */
export const attributesOf = (path: string): Map<string, Buffer> => {
  const attributes = new Map<string, Buffer>()
  const length = Number(listAttributes(path, buffer, lengthMax))
  if (length <= 0) return attributes
  for (const name of buffer.toString('latin1', 0, length - 1).split('\0')) {
    const size = Number(getAttribute(path, name, buffer, lengthMax))
    if (size >= 0) attributes.set(name, Buffer.from(buffer.subarray(0, size)))
  }
  return attributes
}

/** Attributes of the overlay file system itself. The copy of a merged directory must not have them. */
export const isOfOverlay = (name: string): boolean => /^(trusted|user)\.overlay\./.test(name)

/** Whether such an attribute of a directory in a layer hides what is below it. */
export const hidesBelow = (path: string): boolean => [...attributesOf(path)].some(isHiding)

const isHiding = ([name, value]: readonly [string, Buffer]): boolean =>
  isOfOverlay(name) && (name.endsWith('.redirect') || (name.endsWith('.opaque') && String(value) === 'y'))

/** Attributes that change what a layer shows. Others of the overlay file system are only notes to itself. */
export const shownAttributesOf = (path: string): (readonly [string, Buffer])[] =>
  [...attributesOf(path)].filter(each => !isOfOverlay(each[0]) || isHiding(each)).sort()

/** In a user namespace, users without a number in it can own files, but no file can be given to them. */
const own = (path: string, uid: number, gid: number): void => {
  try {
    lchownSync(path, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  }
}

/** Errors of file systems and users that cannot keep every attribute. */
const refusals: readonly number[] = [errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.EINVAL]

/**
 * Gives a file the owner, mode and extended attributes of another.
 *
 * @param isWanted selects attributes by name
 */
export const copyAttributes = (
  from: string,
  to: string,
  isWanted: (name: string) => boolean,
  { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'> = lstatSync(from),
): void => {
  own(to, uid, gid)
  if ((mode & fileType) !== symbolicLink) chmodSync(to, mode & 0o7777)
  for (const [name, value] of attributesOf(from)) {
    if (!isWanted(name) || setAttribute(to, name, value, value.length, 0) === 0) continue
    if (!refusals.includes(lastErrno())) requireSuccess(`setxattr ${to}`, -1)
  }
}

const fileType = 0o170000
const symbolicLink = 0o120000
