import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { lastnail } from '../lastnail.ts'

const program = `
import ctypes, time
ctypes.CDLL(None).syscall(425, 1, 0)
time.sleep(3)
`

test('doctor --program says which system calls of a program are held, native and refused', async () => {
  const args = ['doctor', '--program', '--', '/usr/bin/env', 'python3', '-c', program]
  const { code, stdout } = await lastnail(tmpdir(), ...args)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^held .*clock_nanosleep/m)
  expect(stdout).toMatch(/^native .*read/m)
  expect(stdout).toMatch(/^refused +io_uring_setup$/m)
  expect(stdout).toMatch(/^note +program: io_uring_setup is refused with ENOSYS: /m)
  const json = JSON.parse((await lastnail(tmpdir(), ...args.toSpliced(1, 0, '--json'))).stdout)
  expect(json.calls.refused).toEqual({ io_uring_setup: 1 })
})

test('doctor --program without a program is wrong usage', async () => {
  const { code, stderr } = await lastnail(tmpdir(), 'doctor', '--program')
  expect([code, stderr]).toEqual([64, 'lastnail: --program needs a program: lastnail doctor --program -- COMMAND'])
})
