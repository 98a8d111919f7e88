import { dirname } from 'node:path/posix'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DiskOperation, describeOperation, type FileId, type Inode } from '../../../harness/unsynced/operation.ts'
import { loseIn, outcomesOf } from '../../../harness/unsynced/outcomes.ts'
import { Tree } from '../../../harness/unsynced/tree.ts'
import { type DiskModel, directoriesOf, Unsynced } from '../../../harness/unsynced/unsynced.ts'

const own = { mode: 0o644, uid: 0, gid: 0 }
const empty: Inode = { ...own, kind: 'file', bytes: Buffer.alloc(0) }

/** A disk as a program sees it, beside what is remembered of it. */
class Model {
  readonly tree = new Tree()
  readonly unsynced: Unsynced

  constructor(model: DiskModel) {
    this.unsynced = new Unsynced(model)
  }

  bytes(path: string): Buffer | undefined {
    const inode = this.tree.at(path)
    return inode?.kind === 'file' ? inode.bytes : undefined
  }

  #do(operation: DiskOperation): void {
    this.unsynced.add(operation)
    this.tree.redo(operation)
  }

  make(path: string): void {
    if (this.tree.names.has(path)) return
    this.#do({ does: 'make', file: this.unsynced.newFile(), path, inode: empty, awaits: directoriesOf(path) })
  }

  write(path: string, offset: number, data: Buffer): void {
    const bytes = this.bytes(path)
    if (bytes === undefined || data.length === 0) return
    const before = Buffer.from(bytes.subarray(offset, offset + data.length))
    this.#do({
      does: 'write',
      file: this.unsynced.fileAt(path),
      path,
      offset,
      before,
      after: data,
      sizeBefore: bytes.length,
    })
  }

  resize(path: string, to: number): void {
    const bytes = this.bytes(path)
    if (bytes === undefined || bytes.length === to) return
    const lost = Buffer.from(bytes.subarray(to))
    this.#do({ does: 'resize', file: this.unsynced.fileAt(path), path, from: bytes.length, to, lost })
  }

  /** Writes through memory. */
  store(path: string, offset: number, data: Buffer): void {
    const bytes = this.bytes(path)
    if (bytes === undefined) return
    this.unsynced.map(path, bytes)
    const after = Buffer.from(bytes)
    data.copy(after, Math.min(offset, bytes.length))
    this.unsynced.seeMapped(path, after)
    const file = this.unsynced.fileAt(path)
    this.tree.inodes.set(file, { ...own, kind: 'file', bytes: after })
  }

  remove(path: string): void {
    const inode = this.tree.at(path)
    if (inode === undefined) return
    this.#do({ does: 'remove', file: this.unsynced.fileAt(path), path, inode, awaits: directoriesOf(path) })
  }

  rename(from: string, to: string): void {
    if (from === to || !this.tree.names.has(from)) return
    const inode = this.tree.at(to)
    const replaced = inode && { file: this.unsynced.fileAt(to), inode }
    const file = this.unsynced.fileAt(from)
    this.#do({ does: 'rename', file, path: to, from, replaced, awaits: directoriesOf(from, to) })
  }

  shown(): Record<string, string> {
    return shownOf(this.tree)
  }
}

const shownOf = (tree: Tree): Record<string, string> =>
  Object.fromEntries(
    [...tree.names.keys()].sort().flatMap(path => {
      const inode = tree.at(path)
      return inode?.kind === 'file' ? [[path, inode.bytes.toString('latin1')]] : []
    }),
  )

const copyOf = ({ names, inodes }: Tree): Tree => {
  const copy = new Tree()
  for (const [path, file] of names) copy.names.set(path, file)
  for (const [file, inode] of inodes) copy.inodes.set(file as FileId, inode)
  return copy
}

const leftBy = ({ tree, unsynced }: Model, kept: readonly number[], tornAt?: number): Record<string, string> => {
  const left = copyOf(tree)
  loseIn(left, unsynced.operations, { says: '', kept, tornAt })
  return shownOf(left)
}

const path = fc.constantFrom('/a/x', '/a/y', '/b/x', '/b/y')
const step = fc.oneof(
  path.map(at => (disk: Model) => disk.make(at)),
  fc.tuple(path, fc.nat(12), fc.string({ minLength: 1, maxLength: 8 })).map(
    ([at, offset, text]) =>
      (disk: Model) =>
        disk.write(at, offset, Buffer.from(text, 'latin1')),
  ),
  fc.tuple(path, fc.nat(12)).map(
    ([at, size]) =>
      (disk: Model) =>
        disk.resize(at, size),
  ),
  path.map(at => (disk: Model) => disk.remove(at)),
  fc.tuple(path, path).map(
    ([from, to]) =>
      (disk: Model) =>
        disk.rename(from, to),
  ),
)
const store = fc.tuple(path, fc.nat(12), fc.string({ minLength: 1, maxLength: 8 })).map(
  ([at, offset, text]) =>
    (disk: Model) =>
      disk.store(at, offset, Buffer.from(text, 'latin1')),
)
const steps = fc.array(step, { maxLength: 20 })
const models: readonly DiskModel[] = ['ordered', 'posix']

describe.each(models)('on a disk that is %s', model => {
  test('the first operations alone leave what was there after them', () => {
    fc.assert(
      fc.property(steps, all => {
        const disk = new Model(model)
        const states = new Map([[0, disk.shown()]])
        for (const each of all) {
          each(disk)
          states.set(disk.unsynced.operations.length, disk.shown())
        }
        for (const [count, state] of states) expect(leftBy(disk, [...Array(count).keys()])).toEqual(state)
      }),
    )
  })

  test('what was written through memory is kept with all else, and lost with it', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.oneof(step, store), { maxLength: 20 }), path, (before, after, at) => {
        const disk = new Model(model)
        for (const each of before) each(disk)
        disk.unsynced.syncAll()
        const synced = disk.shown()
        for (const each of after) each(disk)
        const { operations } = disk.unsynced
        expect(leftBy(disk, [...operations.keys()])).toEqual(disk.shown())
        expect(leftBy(disk, [])).toEqual(synced)
        // As msync does it, of the only page.
        disk.unsynced.syncRange(at, 0, 4096)
        const file = disk.unsynced.files.get(at)
        expect(disk.unsynced.operations.filter(each => each.does === 'write' && each.file === file)).toEqual([])
      }),
    )
  })

  test('a synced file is there in every outcome, if its directory was synced too', () => {
    fc.assert(
      fc.property(steps, path, steps, (before, at, after) => {
        const disk = new Model(model)
        for (const each of before) each(disk)
        if (disk.bytes(at) === undefined) return
        disk.unsynced.syncFile(at)
        disk.unsynced.syncDirectory(dirname(at))
        const synced = disk.bytes(at)!.toString('latin1')
        for (const { kept, tornAt } of outcomesOf(disk.unsynced.operations, model))
          expect(leftBy(disk, kept, tornAt)[at]).toBe(synced)
        // What comes later may change it, but if none of that is kept, nothing does.
        const count = disk.unsynced.operations.length
        for (const each of after) each(disk)
        expect(leftBy(disk, [...Array(count).keys()])[at]).toBe(synced)
      }),
    )
  })

  test('where all was synced, nothing is lost', () => {
    fc.assert(
      fc.property(steps, all => {
        const disk = new Model(model)
        for (const each of all) each(disk)
        disk.unsynced.syncAll()
        expect(outcomesOf(disk.unsynced.operations, model)).toEqual([{ says: '', kept: [], tornAt: undefined }])
        expect(leftBy(disk, [])).toEqual(disk.shown())
      }),
    )
  })

  test('a mark restores what may be lost, and copies have their own', () => {
    fc.assert(
      fc.property(steps, steps, (before, after) => {
        const disk = new Model(model)
        for (const each of before) each(disk)
        const rewind = disk.unsynced.mark()
        const copy = disk.unsynced.copy()
        const { hash, operations } = disk.unsynced
        for (const each of after) each(disk)
        rewind()
        expect([disk.unsynced.hash, copy.hash]).toEqual([hash, hash])
        expect(disk.unsynced.operations).toBe(operations)
      }),
    )
  })
})

const said = (disk: Model): string[] =>
  outcomesOf(disk.unsynced.operations, disk.unsynced.model).map(({ says }) => says)

test('an ordered file system writes names and sizes in their order, any sync writes all of them, and data before a rename over it', () => {
  const disk = new Model('ordered')
  disk.make('/a/db')
  disk.make('/a/tmp')
  disk.write('/a/tmp', 0, Buffer.from('new'))
  disk.rename('/a/tmp', '/a/db')
  expect(disk.unsynced.operations.map(describeOperation)).toEqual(['make db', 'make tmp', 'write tmp', 'rename tmp db'])
  expect(said(disk)).toEqual([
    ' keeps 4 of 4',
    ' keeps 3 of 4, not rename tmp db',
    ' keeps 2 of 4, not write tmp',
    ' keeps 1 of 4, not make tmp',
    ' keeps 0 of 4',
  ])
  disk.make('/b/log')
  disk.write('/b/log', 0, Buffer.from('word'))
  disk.unsynced.syncFile('/b/log')
  expect(said(disk)).toEqual([''])
})

test('POSIX promises a name only once its directory was synced', () => {
  const disk = new Model('posix')
  disk.make('/a/tmp')
  disk.write('/a/tmp', 0, Buffer.from('new'))
  disk.unsynced.syncFile('/a/tmp')
  disk.rename('/a/tmp', '/a/db')
  expect(said(disk)).toEqual([
    ' keeps 2 of 2',
    ' keeps 1 of 2, not rename tmp db',
    ' keeps 0 of 2',
    ' keeps 1 of 2, without 1 make tmp',
  ])
  disk.unsynced.syncDirectory('/b')
  expect(said(disk)).toHaveLength(4)
  disk.unsynced.syncDirectory('/a')
  expect(said(disk)).toEqual([''])
})

test('POSIX promises nothing of two directories together', () => {
  const disk = new Model('posix')
  disk.make('/a/tmp')
  disk.unsynced.syncAll()
  disk.rename('/a/tmp', '/b/db')
  expect(outcomesOf(disk.unsynced.operations, 'posix').map(({ says, kept }) => [says, leftBy(disk, kept)])).toEqual([
    [' keeps 2 of 2', { '/b/db': '' }],
    [' keeps 1 of 2, not remove tmp', { '/a/tmp': '', '/b/db': '' }],
    [' keeps 0 of 2', { '/a/tmp': '' }],
    [' keeps 1 of 2, without 1 link db', {}],
  ])
  disk.unsynced.syncDirectory('/b')
  expect(outcomesOf(disk.unsynced.operations, 'posix').map(({ kept }) => leftBy(disk, kept))).toEqual([
    { '/b/db': '' },
    { '/a/tmp': '', '/b/db': '' },
  ])
})

test('a long write is torn at a sector, and where a file grows in order, at a page', () => {
  const torn = (model: DiskModel, offset: number, length: number) => {
    const disk = new Model(model)
    disk.make('/a/log')
    disk.write('/a/log', 0, Buffer.alloc(1000, 'x'))
    disk.unsynced.syncAll()
    disk.write('/a/log', offset, Buffer.alloc(length, 'y'))
    return outcomesOf(disk.unsynced.operations, model).flatMap(({ says, tornAt }) => (tornAt ? [[says, tornAt]] : []))
  }
  expect(torn('posix', 1000, 100)).toEqual([[' keeps 1 of 1, write log torn', 24]])
  expect(torn('ordered', 1000, 100)).toEqual([])
  expect(torn('ordered', 1000, 5000)).toEqual([[' keeps 1 of 1, write log torn', 3096]])
  expect(torn('ordered', 0, 600)).toEqual([[' keeps 1 of 1, write log torn', 512]])
  expect(torn('posix', 0, 512)).toEqual([])
})
