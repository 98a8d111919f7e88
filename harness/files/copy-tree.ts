import {
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  type Stats,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { copyAttributes } from '../../linux/attributes.ts'
import { libc, requireSuccess } from '../../linux/libc.ts'
import { treeOf } from './tree.ts'

const mknod = libc.func('int mknod(const char *path, unsigned int mode, unsigned long device)')

/**
 * Copies everything in a directory to another, which exists and is empty: special files too, with owners, modes,
 * extended attributes, hard links, and times as exact as a double. It does not use cp(1), which takes longer to start
 * than most of these copies.
 */
export const copyTree = (from: string, to: string): void => {
  const links = new Map<string, string>()
  const entries = [{ path: '' }, ...treeOf(from)].map(({ path }) => ({
    path,
    stat: lstatSync(join(from, path)),
  }))
  for (const { path, stat } of entries) {
    if (path === '') continue
    const name = `${stat.dev} ${stat.ino}`
    const other = stat.isDirectory() ? undefined : links.get(name)
    if (other === undefined) copyOne(join(from, path), join(to, path), stat)
    else linkSync(other, join(to, path))
    if (stat.nlink > 1) links.set(name, join(to, path))
  }
  // Last, because adding to a directory changes its times, and its mode may forbid it.
  for (const { path, stat } of entries.reverse()) {
    copyAttributes(join(from, path), join(to, path), () => true, stat)
    const { atimeNs, mtimeNs } = lstatSync(join(from, path), { bigint: true })
    lutimesSync(join(to, path), Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9)
  }
}

const copyOne = (from: string, to: string, stat: Stats): void => {
  if (stat.isDirectory()) mkdirSync(to)
  else if (stat.isFile()) copyFileSync(from, to, constants.COPYFILE_FICLONE)
  else if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
  else requireSuccess(`mknod ${to}`, mknod(to, stat.mode, stat.rdev))
}
