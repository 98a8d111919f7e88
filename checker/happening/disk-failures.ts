import { type Numbered, numbered } from './numbered.ts'

/** What goes wrong with a node's disk in its next step: at its n-th sync or write. */
export type DiskFailure = Numbered<keyof typeof words>

/** How each is said. The first three are what any program must expect; of the others, a disk says nothing. */
const words = {
  /** A sync fails with EIO. */
  sync: 'fails at sync',
  /** From that write on, all fail with ENOSPC. */
  full: 'is full from write',
  /** A write takes half of what it was given. */
  short: 'takes half of write',
  /** What was written is not there: the file has what it had, or zeros. */
  lost: 'loses write',
  /** What was written lies at another place of the file. */
  misdirected: 'misdirects write',
  /** One bit of what was written is another one. */
  rotten: 'rots write',
} as const

export const { all: diskFailures, said: diskFailureSaid, read: diskFailureIn } = numbered(words)

/** Those that a search draws where the configuration does not say which. */
export const usualDiskFailures: readonly DiskFailure['what'][] = ['sync', 'full', 'short']
