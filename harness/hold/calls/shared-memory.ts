import { constants } from 'node:fs'
import { openInside, pathOnly } from '../../../linux/inside.ts'
import { close, libc, requireSuccess, SystemError } from '../../../linux/libc.ts'
import { amountOf } from '../../config/limits.ts'
import type { HeldNode } from '../held/held-node.ts'

const fstatfs = libc.func('int fstatfs(int fd, void *found)')
const found = Buffer.alloc(120)
/** Offset of f_bavail in struct statfs. */
const free = 32
const path = '/dev/shm'
const none = -1

/** Notes it if a node's `/dev/shm` is full: some call of the node has failed for it, or the next one will. */
export const noteFullSharedMemory = (node: HeldNode): void => {
  if (node.root === undefined) return
  node.sharedMemory ??= openIn(node.root)
  if (node.sharedMemory === none) return
  requireSuccess('fstatfs', fstatfs(node.sharedMemory, found))
  if (found.readBigUInt64LE(free) > 0n) return
  node.note(`its ${path} is full: it holds ${amountOf(node.limits.shmBytesMax)} (limits.shm)`)
}

/** Call it when the node has ended. */
export const leaveSharedMemory = (node: HeldNode): void => {
  if (node.sharedMemory !== undefined && node.sharedMemory !== none) close(node.sharedMemory)
  node.sharedMemory = undefined
}

/** It stays open, because every step ends with a look at it. */
const openIn = (root: number): number => {
  try {
    return openInside(root, path, pathOnly | constants.O_DIRECTORY)
  } catch (error) {
    // A container may have none.
    if (error instanceof SystemError) return none
    throw error
  }
}
