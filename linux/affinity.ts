import { readFileSync } from 'node:fs'
import { libc, requireSuccess } from './libc.ts'

const schedSetaffinity = libc.func('int sched_setaffinity(int pid, size_t length, void *mask)')

/** Bytes of a set of CPUs, as the kernel has it. */
const length = 128

/** The CPUs on which this thread may run. */
export const allowedCpus = (): number[] => {
  const [, list] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/thread-self/status', 'latin1'))!
  return list!.split(',').flatMap(range => {
    const [first, last = first] = range.split('-').map(Number) as [number, number?]
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/**
 * Restricts a thread, and what it starts from then on, to these CPUs.
 *
 * @param tid 0 for this thread
 */
export const allow = (tid: number, cpus: readonly number[]): void => {
  const mask = Buffer.alloc(length)
  for (const cpu of cpus) mask[cpu >> 3]! |= 1 << (cpu & 7)
  requireSuccess('sched_setaffinity', schedSetaffinity(tid, length, mask))
}

/** Does something while this thread, and processes that it starts, may run on these CPUs. */
export const onCpus = <Result>(cpus: readonly number[], work: () => Result): Result => {
  const before = allowedCpus()
  allow(0, cpus)
  try {
    return work()
  } finally {
    allow(0, before)
  }
}
