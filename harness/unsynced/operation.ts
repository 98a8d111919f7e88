import { basename } from 'node:path/posix'

/** A file, by number: its name may change, and a name may come to mean another file. */
export type FileId = number

/** What a name leads to. A write makes a new one. */
export type Inode = {
  readonly mode: number
  readonly uid: number
  readonly gid: number
} & (
  | { readonly kind: 'file'; readonly bytes: Buffer }
  | { readonly kind: 'directory' }
  | { readonly kind: 'link'; readonly target: string }
)

interface OfFile {
  readonly file: FileId
  /** Absolute path in the node's view; for `rename`, the new path. */
  readonly path: string
}

/** A change that a node made to its disk, with the data to undo and redo it. */
export type DiskOperation = OfFile &
  (
    | {
        readonly does: 'write'
        readonly offset: number
        /** The bytes that were overwritten, up to the end of the file. */
        readonly before: Buffer
        readonly after: Buffer
        readonly sizeBefore: number
        /** Whether it was written through memory: a page, which is what it last was. */
        readonly isMapped?: true
      }
    | {
        readonly does: 'resize'
        readonly from: number
        readonly to: number
        /** The bytes beyond the new size. */
        readonly lost: Buffer
      }
    /** A new file, empty; a directory; a symbolic link. */
    | ({ readonly does: 'make'; readonly inode: Inode } & Named)
    /** A second name. */
    | ({ readonly does: 'link'; readonly replaced?: Replaced | undefined } & Named)
    /** @param inode undefined if the file is known by another name */
    | ({ readonly does: 'remove'; readonly inode: Inode | undefined } & Named)
    | ({ readonly does: 'rename'; readonly from: string; readonly replaced: Replaced | undefined } & Named)
  )

/** The file that had a name before. */
interface Replaced {
  readonly file: FileId
  readonly inode: Inode
}

interface Named {
  /** Directories that have to be synced until the change of names is sure to last. */
  readonly awaits: readonly string[]
}

export type OperationOf<Does extends DiskOperation['does']> = Extract<DiskOperation, { readonly does: Does }>

/** Whether it changes what a file contains. */
export const isOfData = (operation: DiskOperation): operation is OperationOf<'write' | 'resize'> =>
  operation.does === 'write' || operation.does === 'resize'

/** What a file contains after a write or a change of its length. */
export const changed = (bytes: Buffer, operation: OperationOf<'write' | 'resize'>): Buffer =>
  operation.does === 'write' ? written(bytes, operation.offset, operation.after) : sized(bytes, operation.to)

export const sized = (bytes: Buffer, size: number): Buffer => {
  const made = Buffer.alloc(size)
  bytes.copy(made)
  return made
}

export const written = (bytes: Buffer, offset: number, data: Buffer): Buffer => {
  const made = sized(bytes, Math.max(bytes.length, offset + data.length))
  data.copy(made, offset)
  return made
}

/** Whether a write makes its file longer. */
export const isLonger = ({ offset, after, sizeBefore }: OperationOf<'write'>): boolean =>
  offset + after.length > sizeBefore

/** In a few words, for a label: `write db.log`. */
export const describeOperation = (operation: DiskOperation): string => {
  const name = basename(operation.path)
  if (operation.does === 'rename') return `rename ${basename(operation.from)} ${name}`
  return `${operation.does} ${name}`
}

/** Bytes of memory that are kept for an operation. */
export const bytesKept = (operation: DiskOperation): number => {
  switch (operation.does) {
    case 'write':
      return operation.before.length + operation.after.length
    case 'resize':
      return operation.lost.length
    case 'remove':
      return lengthOf(operation.inode)
    case 'link':
    case 'rename':
      return lengthOf(operation.replaced?.inode)
    default:
      return 0
  }
}

const lengthOf = (inode: Inode | undefined): number => (inode?.kind === 'file' ? inode.bytes.length : 0)
