import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openingMessage, writeGate } from '../../docker/gate.ts'

const atGate = (...command: readonly string[]) => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-gate-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const [gate, out, err, fifo] = ['gate', 'out', 'err', 'fifo'].map(name => join(directory, name)) as [
    string,
    string,
    string,
    string,
  ]
  writeGate(gate)
  for (const path of [out, err]) writeFileSync(path, 'before\n')
  execFileSync('mkfifo', [fifo])
  const end = openSync(fifo, 'r+')
  const child = spawn(gate, [out, err, fifo, '/usr', ...command], { env: { NAME: 'value' }, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  return { end, exit, child, read: () => [out, err].map(path => readFileSync(path, 'utf8')) }
}

test('what is let in runs in its directory, with its arguments and environment, and appends its output', async () => {
  const { end, exit, read } = atGate(
    'shell',
    '-c',
    'pwd; echo "$0 $1 $NAME"; cat /proc/self/personality >&2',
    'zero',
    'one',
  )
  writeSync(end, openingMessage('/bin/sh'))
  expect(await exit).toEqual([0, null])
  expect(read()).toEqual(['before\n/usr\nzero one value\n', 'before\n00040000\n'])
  closeSync(end)
})

test('a program at a gate waits until it is opened', async () => {
  const { end, exit, child, read } = atGate('true')
  const isWaiting = () => /^State:\s+S/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  while (!isWaiting()) await new Promise(resolve => setTimeout(resolve, 1))
  expect(child.exitCode).toBe(null)
  writeSync(end, openingMessage('/bin/true'))
  expect(await exit).toEqual([0, null])
  expect(read()).toEqual(['before\n', 'before\n'])
  closeSync(end)
})

test('it ends where nobody is left to let it in', async () => {
  const { end, exit, child } = atGate('true')
  const hasOpened = () => execFileSync('ls', ['-l', `/proc/${child.pid}/fd`], { encoding: 'utf8' }).includes('/fifo')
  while (!hasOpened()) await new Promise(resolve => setTimeout(resolve, 1))
  closeSync(end)
  expect(await exit).toEqual([127, null])
})

test('a program that is not there ends it', async () => {
  const { end, exit } = atGate('nothing')
  writeSync(end, openingMessage('/nothing/there'))
  expect(await exit).toEqual([127, null])
  closeSync(end)
})
