import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { start } from '../cli/lastnail.ts'
import { directoryWith } from '../harness/system.ts'

const root = join(import.meta.dirname, '../../examples/corpus')

/** The example, with what it has in common with others. */
const copyOf = (system: string): string => {
  const directory = directoryWith({})
  for (const name of ['common', system]) cpSync(join(root, name), join(directory, name), { recursive: true })
  return join(directory, system)
}

test.each([
  ['chord', 'chord-queue', {}, 40],
  ['pastry', 'pastry-rejoin-pair', { NODES: '5' }, 86],
])(
  'a schedule made by hand shows that %s has the bug %s, and not once it is mended',
  { timeout: 120_000 },
  async (system, bug, env, steps) => {
    const directory = copyOf(system)
    const regress = (BUG: string) => start(directory, ['regress', 'schedules'], { env: { ...env, BUG } })
    expect(await regress(bug)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining(`(${steps} of ${steps} steps)`),
    })
    expect(await regress('')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`all ${steps} steps were executed`),
    })
  },
)
