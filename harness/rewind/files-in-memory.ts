import { constants, lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { withFile } from '../../linux/descriptor.ts'
import { insideDirectory } from '../../linux/inside.ts'
import { CannotRewind } from './calls/error.ts'
import { giveOwner, type Owner, ownerOf, setTime } from './file-attributes.ts'
import { putBack, type SparseContent, sparseContentOf } from './memory/sparse-content.ts'

interface FileMark extends Owner {
  readonly inode: bigint
  readonly mtimeNs: bigint
  readonly content: SparseContent
}

/** Files of a node in directories that are empty at each start (`/dev/shm`), by path. */
export type FilesMark = ReadonlyMap<string, FileMark>

/**
 * Such files of one life of a node. Processes share memory by them, so the files must stay the same: one that was removed since a
 * mark cannot be brought back.
 */
export class FilesInMemory {
  readonly #directories: readonly string[]
  #last: FilesMark = new Map()

  constructor(directories: readonly string[]) {
    this.#directories = directories
  }

  /** @param root descriptor of the node's root directory. @throws CannotRewind */
  mark(root: number): FilesMark {
    const files = new Map<string, FileMark>()
    this.#each(root, (path, own) => {
      const stat = lstatSync(own, { bigint: true })
      if (!stat.isFile()) throw new CannotRewind(`${path} is no file`)
      const { ino: inode, mtimeNs } = stat
      const last = this.#last.get(path)
      const content = withFile(own, readAndWrite, fd =>
        sparseContentOf(fd, last?.inode === inode ? last.content : undefined),
      )
      files.set(path, { inode, mtimeNs, content, ...ownerOf(stat) })
    })
    this.#last = files
    return files
  }

  /** @throws CannotRewind */
  rewind(root: number, mark: FilesMark): void {
    const left = new Set(mark.keys())
    this.#each(root, (path, own) => {
      const before = mark.get(path)
      const now = lstatSync(own, { bigint: true })
      if (before === undefined) {
        if (!now.isFile()) throw new CannotRewind(`${path} is no file`)
        unlinkSync(own)
        return
      }
      if (now.ino !== before.inode) throw new CannotRewind(`${path} is another file`)
      left.delete(path)
      withFile(own, readAndWrite, fd => putBack(fd, before.content))
      giveOwner(own, before, ownerOf(now))
      setTime(own, before.mtimeNs)
    })
    const [removed] = left
    if (removed !== undefined) throw new CannotRewind(`${removed} was removed`)
    this.#last = mark
  }

  /** @param work takes the path in the node, and one that leads there from here */
  #each(root: number, work: (path: string, own: string) => void): void {
    for (const directory of this.#directories)
      insideDirectory(root, directory, own => {
        for (const name of readdirSync(own)) work(join(directory, name), join(own, name))
      })
  }
}

const readAndWrite = constants.O_RDWR | constants.O_NOFOLLOW
