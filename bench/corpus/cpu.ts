import { libc } from '../../linux/libc.ts'

const getrusage = libc.func('int getrusage(int who, void *usage)')
const children = -1

/** Seconds of CPU that ended children of this process have used, with all that they have waited for. */
export const cpuOfChildren = (): number => {
  const usage = Buffer.alloc(144)
  getrusage(children, usage)
  const time = (at: number) => Number(usage.readBigInt64LE(at)) + Number(usage.readBigInt64LE(at + 8)) / 1e6
  return time(0) + time(16)
}
