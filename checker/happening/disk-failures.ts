/** What goes wrong with a node's disk in its next step, and at which call: at its so many-th sync or write. */
export interface DiskFailure {
  readonly what: keyof typeof words
  readonly at: number
}

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

export const diskFailures = Object.keys(words) as readonly DiskFailure['what'][]

/** Those that a search draws where the configuration does not say which. */
export const usualDiskFailures: readonly DiskFailure['what'][] = ['sync', 'full', 'short']

export const diskFailureSaid = ({ what, at }: DiskFailure): string => `${words[what]} ${at}`

/** Reads those words; undefined for any others. */
export const diskFailureIn = (said: string): DiskFailure | undefined => {
  const what = diskFailures.find(each => said.startsWith(`${words[each]} `))
  const at = what && Number(/ ([1-9]\d*)$/.exec(said)?.[1])
  return what && at && diskFailureSaid({ what, at }) === said ? { what, at } : undefined
}
