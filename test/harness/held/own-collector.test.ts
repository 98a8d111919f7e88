import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')

/** Three million allocations, and how often the thread slept meanwhile. */
const program = `
import { libc } from '${root}/dist/linux/libc.js'
import { collectOnOwnThread } from '${root}/dist/harness/hold/turns/own-collector.js'
if (process.argv[1] === 'own') collectOnOwnThread()
const getrusage = libc.func('int getrusage(int who, void *usage)')
const usage = Buffer.alloc(144)
const slept = () => (getrusage(1, usage), usage.readUInt32LE(128))
const before = slept()
let kept = []
for (let i = 0; i < 3e6; i++) {
  kept.push({ i, list: [i] })
  if (kept.length > 20000) kept = kept.slice(10000)
}
console.log(slept() - before)`

const sleeps = (...args: readonly string[]) =>
  Number(execFileSync(process.execPath, ['--input-type=module', '-e', program, ...args], { encoding: 'utf8' }))

// On one CPU the others have done their parts by then, or not begun.
test.runIf(availableParallelism() > 1)(
  'a thread that collects its own garbage hardly sleeps for it (needs two CPUs)',
  () => {
    const sums = [0, 0]
    for (let again = 0; again < 3; again++) {
      sums[0]! += sleeps()
      sums[1]! += sleeps('own')
    }
    expect(sums[1]).toBeLessThan(sums[0]!)
  },
)
