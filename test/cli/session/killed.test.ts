import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'

const script = join(import.meta.dirname, '../../../scripts/killed.mjs')
/** One for each command; `npm run killed` takes 200. */
const times = 5

describe.skipIf(process.getuid!() !== 0)('kill -9 (needs root)', () => {
  test('at any moment of any command leaves nothing after the next start', { timeout: 300_000 }, async () => {
    const seed = String(Date.now() % 1000)
    const { stdout, exitCode } = await execa(process.execPath, [script, '--times', String(times), '--seed', seed], {
      reject: false,
    })
    expect(stdout).toMatch(/^5 kills over 5 commands .* after the next start something was left 0 times;/)
    expect(exitCode).toBe(0)
  })
})
