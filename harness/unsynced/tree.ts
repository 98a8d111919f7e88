import { changed, type DiskOperation, type FileId, type Inode, type OperationOf, sized, written } from './operation.ts'

/**
 * Names and files in memory, on which operations are undone and done again. A file that has lost its last name is still
 * there, because a name that comes back leads to it.
 */
export class Tree {
  readonly names = new Map<string, FileId>()
  readonly inodes = new Map<FileId, Inode>()

  /** What a name leads to. */
  at(path: string): Inode | undefined {
    const file = this.names.get(path)
    return file === undefined ? undefined : this.inodes.get(file)
  }

  /** Undoes what was done last. */
  undo(operation: DiskOperation): void {
    const { file, path } = operation
    switch (operation.does) {
      case 'write':
        return this.#change(file, bytes => withoutWrite(bytes, operation))
      case 'resize':
        return this.#change(file, bytes => undoneSize(bytes, operation))
      case 'make':
        this.names.delete(path)
        return
      case 'link':
        this.names.delete(path)
        return this.#bringBack(path, operation.replaced)
      case 'remove':
        this.names.set(path, file)
        if (operation.inode) this.#bring(file, operation.inode)
        return
      case 'rename':
        this.#move(path, operation.from, file)
        this.#bringBack(path, operation.replaced)
    }
  }

  /** Redoes an operation. Has no effect if its file is missing. */
  redo(operation: DiskOperation): void {
    const { file, path } = operation
    switch (operation.does) {
      case 'write':
      case 'resize':
        return this.#change(file, bytes => changed(bytes, operation))
      case 'make':
        this.#bring(file, operation.inode)
        this.names.set(path, file)
        return
      case 'link':
        this.names.set(path, file)
        return
      case 'remove':
        this.names.delete(path)
        return
      case 'rename':
        this.#move(operation.from, path, file)
    }
  }

  #bringBack(path: string, replaced: OperationOf<'rename'>['replaced']): void {
    if (replaced === undefined) return
    this.names.set(path, replaced.file)
    this.#bring(replaced.file, replaced.inode)
  }

  #bring(file: FileId, inode: Inode): void {
    if (!this.inodes.has(file)) this.inodes.set(file, inode)
  }

  /** What is in a directory moves with it. */
  #move(from: string, to: string, file: FileId): void {
    this.names.delete(from)
    this.names.set(to, file)
    for (const [path, each] of [...this.names]) {
      if (!path.startsWith(`${from}/`)) continue
      this.names.delete(path)
      this.names.set(to + path.slice(from.length), each)
    }
  }

  #change(file: FileId, change: (bytes: Buffer) => Buffer): void {
    const inode = this.inodes.get(file)
    if (inode?.kind === 'file') this.inodes.set(file, { ...inode, bytes: change(inode.bytes) })
  }
}

const withoutWrite = (bytes: Buffer, { offset, before, sizeBefore, after }: OperationOf<'write'>): Buffer => {
  const made = written(bytes, offset, before)
  // A write beyond the end has made the file longer.
  return offset + after.length > sizeBefore ? sized(made, sizeBefore) : made
}

const undoneSize = (bytes: Buffer, { from, lost }: OperationOf<'resize'>): Buffer => {
  const made = sized(bytes, from)
  lost.copy(made, from - lost.length)
  return made
}
