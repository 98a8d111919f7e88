import type { Treat, Treatments } from './treatment.ts'

/**
 * Free space of a file system, which all programs of this machine share: half of its space and inodes, whatever others
 * write. A file system that never has free space, such as an image, stays full.
 */
const showSpace: Treat = thread => {
  thread.atExit = after => {
    if (after.get('rax') !== 0) return
    const { memory } = thread.process
    const counts = memory.read(after.get('rsi') + countsOffset, countsLength)
    showHalf(counts, blocks)
    showHalf(counts, inodes)
    memory.write(after.get('rsi') + countsOffset, counts)
  }
  return 'exit'
}

export const spaceCalls: Treatments = { statfs: showSpace, fstatfs: showSpace }

/** Offset of f_blocks, f_bfree, f_bavail, f_files and f_ffree in struct statfs. */
const countsOffset = 16
const countsLength = 40
const blocks = { all: 0, free: [8, 16] } as const
const inodes = { all: 24, free: [32] } as const

const showHalf = (counts: Buffer, { all, free }: { readonly all: number; readonly free: readonly number[] }): void => {
  const half = counts.readBigUInt64LE(all) / 2n
  for (const offset of free) if (counts.readBigUInt64LE(offset) > 0n) counts.writeBigUInt64LE(half, offset)
}
