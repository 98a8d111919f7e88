import { crc32 } from 'node:zlib'

/**
 * How a record lies in the file: its length, a check of the length, its bytes, a check of the bytes (the layout of
 * TFRecord files). With its own check a damaged length cannot pass for a torn end.
 */
const headBytes = 8
const checkBytes = 4

/** What lies at an offset of a file: a whole record, the beginning of one where the file ends, or neither. */
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
