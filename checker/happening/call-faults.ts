/** What a system call of a node does in its next step that it may always do, and seldom does: the so many-th one. */
export interface CallFault {
  readonly what: keyof typeof words
  readonly at: number
}

/** How each is said. */
const words = {
  /** A read that would wait or reads a file returns one byte. */
  read: 'short read',
  /** A write takes one byte. */
  write: 'short write',
  /** A wait ends with EINTR. */
  interrupted: 'interrupted wait',
  /** A wait for a futex ends, though nobody woke it. */
  woken: 'vain wake-up',
  /** A call that makes a descriptor fails with EMFILE. */
  descriptor: 'no descriptor',
} as const

export const callFaults = Object.keys(words) as readonly CallFault['what'][]

export const callFaultSaid = ({ what, at }: CallFault): string => `${words[what]} ${at}`

/** Reads those words; undefined for any others. */
export const callFaultIn = (said: string): CallFault | undefined => {
  const what = callFaults.find(each => said.startsWith(`${words[each]} `))
  const at = what && Number(/ ([1-9]\d*)$/.exec(said)?.[1])
  return what && at && callFaultSaid({ what, at }) === said ? { what, at } : undefined
}
