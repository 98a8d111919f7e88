import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { printed } from '../../cli/printed/printed.ts'
import { copyOfFixtures, start } from '../cli/lastnail.ts'

/** A link may lead to a directory that is gone. */
const ageMs = (path: string) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())

test('a bug whose trace was deleted meanwhile is recorded again, and counted', { timeout: 120_000 }, async () => {
  const { directory, remove } = copyOfFixtures()
  const found = join(directory, '.lastnail')
  const args = ['campaign', 'adders.config.ts', '--property', 'noUpdateLost', '--executions', '800', '--json']
  const deleting = setInterval(() => {
    if (!existsSync(found)) return
    // The schedule is kept after the report is written.
    for (const name of readdirSync(found, { recursive: true, encoding: 'utf8' })) {
      const path = join(found, name)
      if (name.endsWith('.html') && ageMs(path) > 1_000) rmSync(dirname(path), { recursive: true, force: true })
    }
  }, 20)
  try {
    const { exitCode, stdout, stderr } = await start(directory, args)
    expect(exitCode, String(stderr)).toBe(1)
    const { bugs } = printed.campaign.parse(JSON.parse(String(stdout)))
    expect(bugs).toMatchObject([{ property: 'noUpdateLost' }])
    expect(bugs[0]!.times).toBeGreaterThan(1)
  } finally {
    clearInterval(deleting)
    remove()
  }
})
