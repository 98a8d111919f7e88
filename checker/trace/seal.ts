import { crc32 } from 'node:zlib'

/**
 * Layout of a record in the file: its length, a checksum of the length, its bytes, a checksum of the bytes (as in
 * TFRecord files). Because the length has its own checksum, a damaged length is not mistaken for a torn end.
 */
const headBytes = 8
const checkBytes = 4

/** What is at an offset of a file: a whole record, a record cut short by the end of the file, or neither. */
export type Unsealed = { readonly payload: Uint8Array; readonly end: number } | 'torn' | 'damaged'

export const seal = (payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(payload.length, 0)
  head.writeUInt32LE(crc32(head.subarray(0, 4)), 4)
  const check = Buffer.alloc(checkBytes)
  check.writeUInt32LE(crc32(payload))
  return Buffer.concat([head, payload, check])
}

export const unseal = (file: Buffer, offset: number): Unsealed => {
  const start = offset + headBytes
  if (start > file.length) return 'torn'
  if (crc32(file.subarray(offset, offset + 4)) !== file.readUInt32LE(offset + 4)) return 'damaged'
  const payload = file.subarray(start, start + file.readUInt32LE(offset))
  const end = start + file.readUInt32LE(offset) + checkBytes
  if (end > file.length) return 'torn'
  return crc32(payload) === file.readUInt32LE(end - checkBytes) ? { payload, end } : 'damaged'
}
