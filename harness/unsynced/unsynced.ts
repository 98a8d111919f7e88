import { hash } from 'node:crypto'
import { dirname } from 'node:path/posix'
import { bytesKept, changed, type DiskOperation, describeOperation, type FileId, isOfData } from './operation.ts'
import { seenPages } from './pages.ts'

/**
 * What a file system promises about what was not synced. `ordered`: as ext4 with `data=ordered`: changes of names and
 * sizes last in their order, and any sync makes all of them last. `posix`: each lasts or not, alone, and a name only
 * lasts once its directory was synced.
 */
export type DiskModel = 'ordered' | 'posix'

/**
 * Operations that are remembered at most, and bytes of them. The kernel writes old ones back by itself some time:
 * beyond this, the oldest count as written.
 */
const operationsMax = 200
const bytesMax = 16 << 20

interface State {
  readonly operations: readonly DiskOperation[]
  readonly files: ReadonlyMap<string, FileId>
  readonly filesMade: number
  readonly bytes: number
  /** What files that are mapped to be written contain after all these operations. */
  readonly mapped: ReadonlyMap<FileId, Buffer>
}

const nothingDone: State = { operations: [], files: new Map(), filesMade: 0, bytes: 0, mapped: new Map() }

/**
 * What a node has done to its disk since it last synced that, in order: what a power failure may lose. Names are those
 * that its files have now.
 */
export class Unsynced {
  readonly model: DiskModel
  /** Whether an ordered file system has kept, or never tears, what one that promises no more than POSIX may lose or tear. */
  isSpared = false
  #state: State

  constructor(model: DiskModel, state = nothingDone) {
    this.model = model
    this.#state = state
  }

  /** In the order in which they were done. */
  get operations(): readonly DiskOperation[] {
    return this.#state.operations
  }

  /** The names of files that have numbers. */
  get files(): ReadonlyMap<string, FileId> {
    return this.#state.files
  }

  /** The same for the next life, which has mapped nothing yet. */
  copy(): Unsynced {
    return new Unsynced(this.model, { ...this.#state, mapped: new Map() })
  }

  /** Returns a function that restores the present state. */
  mark(): () => void {
    const state = this.#state
    return () => {
      this.#state = state
    }
  }

  /** The number of the file with this name, which gets one if it has none. */
  fileAt(path: string): FileId {
    const { files, filesMade } = this.#state
    const known = files.get(path)
    if (known !== undefined) return known
    this.#state = { ...this.#state, files: new Map([...files, [path, filesMade]]), filesMade: filesMade + 1 }
    return filesMade
  }

  /** A number for a new file. */
  newFile(): FileId {
    const { filesMade } = this.#state
    this.#state = { ...this.#state, filesMade: filesMade + 1 }
    return filesMade
  }

  /** From now on, a file may also be written through memory. @param bytes what it contains */
  map(path: string, bytes: Buffer): void {
    const file = this.fileAt(path)
    const { mapped } = this.#state
    if (!mapped.has(file)) this.#state = { ...this.#state, mapped: new Map([...mapped, [file, bytes]]) }
  }

  /** The names of such files. */
  get mapped(): readonly string[] {
    const { mapped, files } = this.#state
    return mapped.size === 0 ? [] : [...files].flatMap(([path, file]) => (mapped.has(file) ? [path] : []))
  }

  /** What has been written through memory since is a write of each page. @param bytes what the file contains now */
  seeMapped(path: string, bytes: Buffer): void {
    const file = this.fileAt(path)
    const before = this.#state.mapped.get(file)
    if (before === undefined || before.equals(bytes)) return
    const { operations, merged } = seenPages(this.operations, { file, path, before, bytes })
    this.#use(merged)
    for (const each of operations) this.#add(each)
    this.#state = { ...this.#state, mapped: new Map([...this.#state.mapped, [file, bytes]]) }
  }

  add(operation: DiskOperation): void {
    for (const each of this.#apart(operation)) this.#add(each)
  }

  /** POSIX does not promise that two directories change together. */
  #apart(operation: DiskOperation): readonly DiskOperation[] {
    if (this.model === 'ordered' || operation.does !== 'rename' || operation.awaits.length === 1) return [operation]
    const { file, path, from, replaced } = operation
    for (const name of this.files.keys()) if (name.startsWith(`${from}/`)) return [operation]
    return [
      { does: 'link', file, path, replaced, awaits: directoriesOf(path) },
      { does: 'remove', file, path: from, inode: undefined, awaits: directoriesOf(from) },
    ]
  }

  #add(operation: DiskOperation): void {
    const { operations, bytes } = this.#state
    let all = [...operations, operation]
    let sum = bytes + bytesKept(operation)
    while (all.length > operationsMax || (sum > bytesMax && all.length > 0)) {
      sum -= bytesKept(all[0]!)
      all = all.slice(1)
    }
    this.#state = { ...this.#state, operations: all, bytes: sum, files: namesAfter(this.#state.files, operation) }
    this.#changeMapped(operation)
  }

  #changeMapped(operation: DiskOperation): void {
    const before = this.#state.mapped.get(operation.file)
    if (before === undefined || !isOfData(operation)) return
    this.#state = {
      ...this.#state,
      mapped: new Map([...this.#state.mapped, [operation.file, changed(before, operation)]]),
    }
  }

  /** A file was synced. @param path its name; undefined if it has none any more */
  syncFile(path: string | undefined): void {
    const file = path === undefined ? undefined : this.#state.files.get(path)
    this.#writeJournal()
    if (file !== undefined) this.#keep(each => !(isOfData(each) && each.file === file))
  }

  /** As `syncFile`, but of the data between two places of the file alone. */
  syncRange(path: string, from: number, to: number): void {
    const file = this.#state.files.get(path)
    this.#writeJournal()
    this.#keep(each => !(each.does === 'write' && each.file === file && each.offset >= from && each.offset < to))
  }

  syncDirectory(path: string): void {
    if (this.model === 'ordered') return this.#writeJournal(path)
    this.#use(
      this.operations.flatMap((each): DiskOperation[] => {
        if (isOfData(each) || !each.awaits.includes(path)) return [each]
        const awaits = each.awaits.filter(other => other !== path)
        return awaits.length === 0 ? [] : [{ ...each, awaits }]
      }),
    )
  }

  syncAll(): void {
    this.#use([])
  }

  /** Equal for disks of which the same may be lost. */
  get hash(): string {
    const known = hashes.get(this.operations)
    if (known !== undefined) return known
    const made = hash('sha1', this.operations.map(identityOf).join('\n'))
    hashes.set(this.operations, made)
    return made
  }

  /**
   * All changes of names and sizes are written. With them the data that they speak of: of a file that became shorter
   * afterwards, and of one that took the name of another. Without order, there is no such journal.
   *
   * @param directory that was synced
   */
  #writeJournal(directory?: string): void {
    if (this.model !== 'ordered') return
    const settled = new Set<DiskOperation>()
    for (const [index, each] of this.operations.entries()) {
      if (each.does === 'write') continue
      settled.add(each)
      if (!isOfData(each) && each.awaits.some(path => path !== directory)) this.isSpared = true
      if (each.does === 'resize' || (each.does === 'rename' && each.replaced))
        for (const before of this.operations.slice(0, index))
          if (before.file === each.file && isOfData(before)) settled.add(before)
    }
    this.#keep(each => !settled.has(each))
  }

  #keep(isKept: (operation: DiskOperation) => boolean): void {
    this.#use(this.operations.filter(isKept))
  }

  #use(operations: readonly DiskOperation[]): void {
    const bytes = operations.reduce((sum, each) => sum + bytesKept(each), 0)
    this.#state = { ...this.#state, operations, bytes }
  }
}

const hashes = new WeakMap<readonly DiskOperation[], string>()

const identityOf = (operation: DiskOperation): string => {
  const { path } = operation
  if (operation.does === 'write') return `write ${path} ${operation.offset} ${hash('sha1', operation.after)}`
  if (operation.does === 'resize') return `resize ${path} ${operation.from} ${operation.to}`
  return `${describeOperation(operation)} ${path} ${operation.awaits.join(' ')}`
}

const namesAfter = (files: ReadonlyMap<string, FileId>, operation: DiskOperation): ReadonlyMap<string, FileId> => {
  if (isOfData(operation)) return files
  const { file, path } = operation
  const after = new Map(files)
  if (operation.does === 'remove') after.delete(path)
  else after.set(path, file)
  if (operation.does === 'rename') {
    after.delete(operation.from)
    for (const [name, each] of files) {
      if (!name.startsWith(`${operation.from}/`)) continue
      after.delete(name)
      after.set(path + name.slice(operation.from.length), each)
    }
  }
  return after
}

/** The directories in which an operation on these names must be synced. */
export const directoriesOf = (...paths: readonly string[]): readonly string[] => [...new Set(paths.map(dirname))]
