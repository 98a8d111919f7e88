import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { differenceOf, executeAgain, executeAny, systemOf } from '../../../bench/trio.ts'
import { ProcessMemory } from '../../../linux/memory.ts'
import { Registers } from '../../../linux/ptrace.ts'
import { Kernels } from '../../../proxy/kernels.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cell = new Int32Array(new SharedArrayBuffer(4))
const sleepMs = 0.2

/** Makes this thread sleep before some calls of a method, by chance, as it does in some collections of garbage. */
const sleepBefore = <Name extends string>(prototype: Record<Name, (...args: never[]) => unknown>, method: Name) => {
  const former = prototype[method]
  const spy = vi.spyOn(prototype as Record<string, (...args: never[]) => unknown>, method)
  spy.mockImplementation(function (this: unknown, ...args: never[]) {
    if (Math.random() < 1 / 7) Atomics.wait(cell, 0, 0, sleepMs)
    return former.apply(this, args)
  })
  onTestFinished(() => spy.mockRestore())
}

for (const [kind, program] of [
  ['node', 'node'],
  ['redis', 'redis-server'],
] as const)
  test.skipIf(spawnSync(program, ['--version']).status !== 0)(
    `an execution is the same wherever the tool’s thread sleeps (needs ${program})`,
    { timeout: 180_000, retry: 0 },
    async () => {
      const system = await systemOf(kind, root)
      const first = await executeAny(system, 200, 2)
      sleepBefore(Registers.prototype, 'load')
      sleepBefore(ProcessMemory.prototype, 'read')
      sleepBefore(Kernels.prototype, 'pump')
      sleepBefore(Kernels.prototype, 'feed')
      for (let again = 0; again < 4; again++)
        expect(differenceOf(first, await executeAgain(system, first))).toBe(undefined)
    },
  )
