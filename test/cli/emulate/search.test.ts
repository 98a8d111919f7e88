import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

/** Nothing happens to its nodes in a run; a search may crash one. */
const fragile = `
import { always, defineSystem, type SystemDefinition } from 'lastnail'
import counter from './counter.config.ts'
export default defineSystem({
  ...(counter as SystemDefinition),
  faults: { crash: 1 },
  properties: { bothUp: always(s => s.nodes.every(n => n.alive)) },
  emulation: { for: '2500ms' },
})
`

test("a search from a run does not change the run; what it finds is executed from the run's start", {
  timeout: 180_000,
}, async () => {
  const { directory, remove } = copyOfFixtures({ 'fragile.config.ts': fragile })
  onTestFinished(remove)
  const emulate = async (...args: readonly string[]) => {
    const { code, stdout } = await lastnail(directory, 'emulate', 'fragile.config.ts', ...args, '--json')
    return { code, summary: JSON.parse(stdout) }
  }
  const alone = await emulate()
  expect(alone).toMatchObject({ code: 0, summary: { verdict: 'held' } })
  const searched = await emulate('--check-every', '1s', '--check-for', '60s')
  expect(searched.summary.hash).toBe(alone.summary.hash)
  expect(searched).toMatchObject({
    code: 1,
    summary: {
      ...{ verdict: 'violated', property: 'bothUp', kind: 'safety' },
      searched: { searches: 1, found: [{ atMs: 1000, property: 'bothUp' }] },
    },
  })
  const [found] = searched.summary.searched.found
  expect(found.step).toBeGreaterThan(5)
  expect(await lastnail(directory, 'replay', found.trace)).toMatchObject({ code: 1 })
  expect(await lastnail(directory, 'replay', searched.summary.trace)).toMatchObject({ code: 0 })
})

test('each search goes on from the state of the one before, and getting there is not taken from its time', {
  timeout: 120_000,
}, async () => {
  const { directory, remove } = copyOfFixtures({ 'fragile.config.ts': fragile.replace('crash: 1', 'crash: 0') })
  onTestFinished(remove)
  const args = ['--check-every', '600ms', '--check-for', '2s', '--json']
  const { code, stdout } = await lastnail(directory, 'emulate', 'fragile.config.ts', ...args)
  const { verdict, searched, notes } = JSON.parse(stdout)
  expect([code, verdict, searched.searches, searched.found]).toEqual([0, 'held', 4, []])
  expect(searched.executions).toBeGreaterThanOrEqual(4)
  expect(notes).not.toContainEqual(expect.stringContaining('the search from step'))
})

test.each(['real', 'native'])('at the pace %s no clock can be stopped', async pace => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  expect(
    await lastnail(directory, 'emulate', 'counter.config.ts', '--pace', pace, '--check-every', '1s'),
  ).toMatchObject({ code: 64, stderr: `lastnail: --check-every stops the clock, which at the pace ${pace} goes on` })
})
