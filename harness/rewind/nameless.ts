import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { withDuplicate } from '../../linux/descriptor.ts'
import { CannotRewind } from './calls/error.ts'
import type { Descriptor } from './open-descriptors.ts'

/** Content of a file without a name, which no disk has: one that was removed while open, or a memfd. */
export interface NamelessMark {
  readonly fd: number
  readonly content: Buffer
}

/** Bytes of a file without a name that a mark holds at most; a node with a larger one is not marked. */
const bytesMax = 16 << 20

/** @throws CannotRewind if it is too large */
export const markNameless = (pid: number, open: readonly Descriptor[]): NamelessMark[] =>
  open
    .filter(({ kind, link }) => kind === 'file' && isNameless(link))
    .flatMap(({ fd }) => withDuplicate(pid, fd, own => (isRegular(own) ? [{ fd, content: contentOf(own) }] : [])) ?? [])

/** Restores the content. Positions are restored elsewhere. */
export const rewindNameless = (pid: number, marks: readonly NamelessMark[]): void => {
  for (const { fd, content } of marks)
    withDuplicate(pid, fd, own => {
      if (contentOf(own).equals(content)) return
      try {
        ftruncateSync(own, 0)
        for (let done = 0; done < content.length; ) done += writeSync(own, content, done, content.length - done, done)
      } catch (error) {
        throw new CannotRewind(`descriptor ${fd} holds something else, and cannot be written to: ${error}`)
      }
    })
}

const isNameless = (link: string): boolean => link.endsWith(' (deleted)')

const isRegular = (own: number): boolean => fstatSync(own).isFile()

const contentOf = (own: number): Buffer => {
  const { size } = fstatSync(own)
  if (size > bytesMax) throw new CannotRewind(`a file without a name has more than ${bytesMax >> 20} MB`)
  const content = Buffer.alloc(size)
  // The process may have opened it only for writing.
  const readable = openSync(`/proc/self/fd/${own}`, 'r')
  try {
    let done = 0
    for (let got = 1; got > 0 && done < size; done += got) got = readSync(readable, content, done, size - done, done)
    return content.subarray(0, done)
  } finally {
    closeSync(readable)
  }
}
