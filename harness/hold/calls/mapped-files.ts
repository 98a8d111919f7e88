import { readInside } from '../../../linux/inside.ts'
import { isSharedToWrite, regionsOf } from '../../../linux/memory.ts'
import type { Registers } from '../../../linux/ptrace.ts'
import type { HeldNode } from '../held/held-node.ts'
import type { Treat } from './treatment.ts'

/**
 * Files that programs write through memory. No call says what they write, so it is looked for after each step, and before each
 * flush: what such a file contains is compared with what was known of it.
 */

export const PROT_WRITE = 2
export const MAP_SHARED = 1
export const MAP_ANONYMOUS = 32
const MS_SYNC = 4

/** A larger file counts as never lost, because it is read after each step. */
export const mappedBytesMax = 64 << 20

/** Whether a call maps a file so that memory writes to it. */
export const mapsToWrite = (registers: Registers): boolean =>
  (registers.get('rdx') & PROT_WRITE) !== 0 &&
  (registers.get('r10') & MAP_SHARED) !== 0 &&
  (registers.get('r10') & MAP_ANONYMOUS) === 0

/** Remembers what its programs have written through memory. */
export const seeMapped = ({ unsynced, root }: HeldNode): void => {
  if (unsynced === undefined || root === undefined) return
  for (const path of unsynced.mapped) {
    const bytes = contentOf(root, path)
    if (bytes) unsynced.seeMapped(path, bytes)
  }
}

/** Undefined if it is gone. */
const contentOf = (root: number, path: string): Buffer | undefined => {
  try {
    return readInside(root, path)
  } catch {
    return undefined
  }
}

/** `msync(address, length, flags)` is the flush of a part of each file that is mapped there. */
export const flushMapped: Treat = ({ process }, registers) => {
  const { unsynced } = process.node
  if (unsynced === undefined || (registers.get('rdx') & MS_SYNC) === 0) return 0
  seeMapped(process.node)
  const [from, to] = [registers.get('rdi'), registers.get('rdi') + registers.get('rsi')]
  for (const { path, start, end, offset } of regionsOf(process.pid).filter(isSharedToWrite))
    if (start < to && end > from)
      unsynced.syncRange(path, offset + Math.max(0, from - start), offset + Math.min(end, to) - start)
  return 0
}
