import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { allow, allowedCpus, onCpus } from '../../linux/affinity.ts'

const cpusOfAChild = () =>
  execFileSync('sh', ['-c', 'grep Cpus_allowed_list /proc/self/status'], { encoding: 'utf8' }).split('\t')[1]?.trim()

test('what is started on CPUs may run on them alone, and this thread on its own afterwards', () => {
  const before = allowedCpus()
  const [cpu] = before
  expect(onCpus([cpu!], cpusOfAChild)).toBe(`${cpu}`)
  expect(allowedCpus()).toEqual(before)
})

test('this thread is where it was also after what it did has failed', () => {
  const before = allowedCpus()
  const fails = () => {
    throw new Error('no')
  }
  expect(() => onCpus([before[0]!], fails)).toThrow('no')
  expect(allowedCpus()).toEqual(before)
})

test.skipIf(allowedCpus().length < 2)('a thread that was pinned starts others on all CPUs (needs two CPUs)', () => {
  const all = allowedCpus()
  allow(0, [all[0]!])
  try {
    expect(onCpus(all, allowedCpus)).toEqual(all)
    expect(allowedCpus()).toEqual([all[0]])
  } finally {
    allow(0, all)
  }
})

test('a CPU that the machine does not have is refused', () => {
  expect(() => allow(0, [1023])).toThrow('sched_setaffinity')
})
