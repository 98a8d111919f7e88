import { type BigIntStats, chmodSync, lchownSync, lstatSync } from 'node:fs'
import { AT_FDCWD, libc, requireSuccess } from '../../linux/libc.ts'

/** Whose a file is, and who may use it. */
export interface Owner {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

export const ownerOf = ({ mode, uid, gid }: BigIntStats): Owner => ({
  mode: Number(mode),
  uid: Number(uid),
  gid: Number(gid),
})

/** Gives a file its owner and mode. */
export const giveOwner = (path: string, { uid, gid, mode }: Owner, now: Owner | undefined): void => {
  const isOwned = now?.uid === uid && now.gid === gid
  if (!isOwned) lchownSync(path, uid, gid)
  // Changing the owner clears setuid, so the mode is set afterwards.
  if (!isOwned || now.mode !== mode) chmodSync(path, mode & 0o7777)
}

const setTimes = libc.func('int utimensat(int directory, const char *path, void *times, int flags)')
const noFollow = 0x100
/** UTIME_OMIT: keeps the time of the last access. */
const omitted = 0x3fff_fffen
const nanoseconds = 1_000_000_000n

/** As exactly as the file system stores it, because the node's clock at that time is derived from it. */
export const setTime = (path: string, mtimeNs: bigint): void => {
  if (lstatSync(path, { bigint: true }).mtimeNs === mtimeNs) return
  const times = BigInt64Array.of(0n, omitted, mtimeNs / nanoseconds, mtimeNs % nanoseconds)
  requireSuccess('utimensat', setTimes(AT_FDCWD, path, Buffer.from(times.buffer), noFollow))
}
