import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import '../../../vitest.ts'
import { goOnHealthy } from '../../../checker/cells/healthy.ts'
import { eventually } from '../../../harness/config/properties.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'

const config = `
  import { defineSystem, eventually, jsonLines } from 'lastnail'
  const env = { MENDED: process.env.MENDED ?? '0' }
  const node = (...args: readonly string[]) => ({ command: ['node', 'lock.js', ...args], env })
  const isFree = s => !s.node('keeper').state?.locked
  export default defineSystem({
    name: 'lock',
    nodes: { keeper: node('keeper'), owner: node('owner', '{{keeper.address}}'), other: node('other', '{{keeper.address}}') },
    state: jsonLines(),
    faults: { drop: 1 },
    properties: {
      free: process.env.PLAIN ? eventually(isFree) : eventually(isFree, { when: 'healthy', within: process.env.WITHIN ?? '30s' }),
    },
  })`

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({ 'lock.config.ts': config })
  directory = copy.directory
  return copy.remove
})

const check = async (executions: number, env: Readonly<Record<string, string>> = {}) => {
  const args = ['check', 'lock.config.ts', '--executions', String(executions), '--json']
  const { exitCode, stdout, stderr } = await start(directory, args, { env })
  const found = JSON.parse(String(stdout).trim().split('\n').at(-1)!)
  return { exitCode, stderr: String(stderr), found }
}

test('what only a timer before its time would heal is found in a healthy network, and repeats', {
  timeout: 180_000,
}, async () => {
  const { exitCode, found } = await check(2000)
  expect({ exitCode, found }).toMatchObject({ exitCode: 1, found: { property: 'free', repeated: true } })
  expect(found.schedule).toContain('healthy')
  const replayed = await lastnail(directory, 'replay', found.trace)
  expect(replayed).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('did not come to hold by itself in a healthy'),
  })
  expect(await lastnail(directory, 'shrink', found.trace)).toMatchObject({ code: 1 })
  // Mended, the healthy network goes on with other steps than were recorded.
  const kept = (await lastnail(directory, 'keep', found.trace)).stdout.replace(/^kept /, '')
  const regress = (env = {}) => start(directory, ['regress', kept, '--json'], { env })
  expect((await regress()).exitCode).toBe(1)
  const mended = await regress({ MENDED: '1' })
  expect(mended.exitCode, String(mended.stdout)).toBe(0)
  expect(JSON.parse(String(mended.stdout)).schedules).toEqual([expect.objectContaining({ outcome: 'passes' })])
  const confirm = async (env = {}) => {
    const { stdout } = await start(directory, ['confirm', kept, '--executions', '60', '--json'], { env })
    return JSON.parse(String(stdout).split('\n').at(-1)!)
  }
  const present = await confirm()
  expect(present).toMatchObject({ outcome: 'fails', message: expect.stringContaining('in a healthy network') })
  expect(await lastnail(directory, 'replay', present.trace)).toMatchObject({ code: 1 })
  const healed = await confirm({ MENDED: '1' })
  expect(healed).toMatchObject({ outcome: 'passes', executions: 60 })
  expect(healed.near).toBeGreaterThan(10)
  const { schedule, seed, variant, clocksStart } = found
  const asTest = { schedule, seed, variant, clocksStart }
  await expect(join(directory, 'lock.config.ts')).not.toHold(asTest)
  process.env.MENDED = '1'
  onTestFinished(() => void delete process.env.MENDED)
  await expect(join(directory, 'lock.config.ts')).toHold(asTest)
  const verified = await lastnail(directory, 'verify', found.trace)
  expect(verified.stdout).toContain('without its bound of 30 s, because only a search makes the network healthy')
  // The first steps show it: by hand the keeper is locked, and then left alone.
  const byHand = found.schedule.slice(0, found.schedule.indexOf('healthy') + 1)
  const tried = await lastnail(directory, 'try', 'lock.config.ts', ...byHand)
  expect(tried).toMatchObject({ code: 0, stdout: expect.stringMatching(/no violation in \d+ steps$/) })
})

test('a service that comes to it by itself within the bound is not accused, and with a shorter bound it is', {
  timeout: 180_000,
}, async () => {
  expect(await check(150, { MENDED: '1' })).toMatchObject({ exitCode: 0, found: { verdict: 'held' } })
  expect(await check(2000, { MENDED: '1', WITHIN: '3500ms' })).toMatchObject({
    exitCode: 1,
    found: { property: 'free' },
  })
})

test('without it, clocks apart heal the mistake', { timeout: 180_000 }, async () => {
  expect(await check(150, { PLAIN: '1' })).toMatchObject({ exitCode: 0, found: { verdict: 'held' } })
})

test('a property of healthy networks needs a bound', () => {
  expect(() => eventually(() => true, { when: 'healthy' })).toThrow(/expected 'healthy' and a bound/)
})

test('a property that thousands of steps of a healthy network do not decide is said to be undecided', async () => {
  const step = { kind: 'deliver', label: 'a→b' }
  const executor = {
    schedule: [{ kind: 'healthy', label: 'healthy' }],
    lastLive: new Map(),
    undecided: new Map(),
    judgedHealthy: ['free'],
    enabled: () => [step],
    execute: async (choice: typeof step) => void executor.schedule.push(choice),
  }
  await goOnHealthy(executor as never)
  expect([...executor.undecided]).toEqual([
    ['free', 'free was not decided: it did not hold in 4000 steps of a healthy network'],
  ])
  expect(executor.schedule).toHaveLength(4001)
})
