import { check, libc } from './libc.ts'

const pipe2 = libc.func('int pipe2(void *ends, int flags)')
const closeOnExec = 0o2000000

/** Our own pipe, which no program that is started inherits. */
export const pipe = () => {
  const ends = Buffer.alloc(8)
  check('pipe2', pipe2(ends, closeOnExec))
  return { readEnd: ends.readInt32LE(0), writeEnd: ends.readInt32LE(4) }
}
