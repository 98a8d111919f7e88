import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTrace } from '../../checker/trace/read.ts'
import { start } from '../cli/lastnail.ts'

const example = fileURLToPath(new URL('../../examples/register/', import.meta.url))

let out: string
beforeAll(() => {
  out = mkdtempSync(join(tmpdir(), 'lastnail-register-'))
})
afterAll(() => rmSync(out, { recursive: true, force: true }))

const run = async (bug: string, ...args: readonly string[]) => {
  const { exitCode, stdout } = await start(example, args, { env: { BUG: bug } })
  return { code: exitCode, lines: String(stdout).split('\n') }
}

const check = (bug: string, ...args: readonly string[]) =>
  run(bug, 'check', 'lastnail.config.ts', '--out', out, '--workers', '1', ...args)

/** What is said of the operations that contradict each other, whatever their steps. */
const operationsIn = (lines: readonly string[]) =>
  lines.flatMap(line => /^ {4}(\w+) +step \d+ to \S+ +(.*)$/.exec(line)?.slice(1).join(' ') ?? [])

const goesBack = ['ann write 1 → ?', 'bob read → 1', 'bob read → 0']

test('a read that goes back in time is found, repeated, shrunk, and shown with what contradicts it', {
  timeout: 180_000,
}, async () => {
  const { code, lines } = await check('stale-read', '--property', 'linearizable', '--for', '150s', '--seed', '7')
  expect(code).toBe(1)
  expect(lines[lines.indexOf('violated: safety linearizable') + 1]).toMatch(
    /^what happened: .* overtakes n1’s "store 1"/,
  )
  expect(lines[lines.indexOf('violated: safety linearizable') + 2]).toMatch(
    /^linearizable does not hold after step \d+ \(.*\): no register has these operations in any order/,
  )
  expect(operationsIn(lines)).toEqual(goesBack)
  const trace = realpathSync(join(out, 'register/latest/linearizable.trace'))
  const { steps } = readTrace(trace)
  expect(
    steps.flatMap(step => step.operations).map(({ process, op, outcome }) => `${process} ${op} ${outcome}`),
  ).toEqual([...['ann write unknown', 'bob read unknown', 'bob read ok', 'bob read unknown', 'bob read ok']])
  const again = await run('stale-read', 'replay', trace)
  expect({ code: again.code, operations: operationsIn(again.lines) }).toEqual({ code: 1, operations: goesBack })
  // No order that keeps Bob's has his reads in it either.
  const other = await check('stale-read', '--property', 'sequentiallyConsistent', '--executions', '1', '--from', trace)
  expect({ code: other.code, operations: operationsIn(other.lines) }).toEqual({ code: 1, operations: goesBack })
  const mended = await run('', 'replay', trace)
  expect(mended.code).toBe(3)
})

test('if a read first stores its result at a majority, all orders hold', { timeout: 180_000 }, async () => {
  const { code, lines } = await check('', '--executions', '40')
  expect({ code, verdict: lines[0] }).toEqual({ code: 0, verdict: 'held' })
})
