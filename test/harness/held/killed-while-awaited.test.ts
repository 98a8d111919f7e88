import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ptrace = join(import.meta.dirname, '../../../dist/linux/ptrace.js')

/** Traces all threads of a program, kills it, waits for its first thread, and polls for the ends of all; then it waits for one that was never there. */
const program = `
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { seize, poll, wait } from '${ptrace}'

const { pid, stdout } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log()'])
await new Promise(resolve => stdout.once('data', resolve))
const tids = readdirSync('/proc/' + pid + '/task').map(Number)
for (const tid of tids) seize(tid)
process.kill(pid, 'SIGKILL')
const ends = new Set()
try {
  wait(pid)
} catch (error) {
  ends.add(error.name)
}
for (let change; ends.size <= tids.length && (change = poll()); ) ends.add(change.tid)
try {
  wait(2 ** 30)
} catch (error) {
  console.log(JSON.stringify({ threads: tids.length, missing: tids.filter(tid => !ends.has(tid)), ended: ends.has('ThreadEnded'), error: error.message }))
}
process.exit()`

test('whoever waits for the first thread of a program learns that somebody has killed it, and so does the next poll', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  const { threads, missing, ended, error } = JSON.parse(output)
  expect(threads).toBeGreaterThan(1)
  expect({ missing, ended }).toEqual({ missing: [], ended: true })
  expect(error).toMatch(/^wait4: errno 10\b/)
})
