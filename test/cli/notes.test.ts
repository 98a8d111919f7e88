import { rmSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { printed } from '../../cli/printed.ts'
import { copyOfFixtures, lastnail } from './lastnail.ts'

const config = (parts: string) => `
  import { always, defineSystem, eventually, jsonLines, sometimes } from 'lastnail'
  const node = { command: [process.execPath, 'quiet.js'], listens: 7000 }
  export default defineSystem({ name: 'quiet', nodes: { n1: node, n2: node }, ${parts} })`

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({
    // It answers HTTP, and prints no state.
    'quiet.js': "require('node:http').createServer((_, response) => response.end('yes')).listen(7000)",
    'bare.config.ts': config(''),
    'vague.config.ts': config(`
      state: jsonLines('stderr'),
      clients: {
        fails: async () => { throw new Error('no such luck') },
        hangs: ({ n1 }) => new Promise(() => n1),
        works: async ({ n1 }) => (await n1.http(7000, '/')).body.text(),
      },
      properties: { fine: always(s => s.nodes.filter(n => n.state?.leader).length <= 1), up: eventually(() => true) },
      faults: { drop: 1, crash: 1 },`),
    'goals.config.ts': config(`
      state: async node => (await node.http(7000, '/')).body.text().then(said => ({ said, log: [] })),
      clients: { ask: async ({ n1 }) => (await n1.http(7000, '/')).body.text() },
      properties: {
        answered: sometimes(s => s.calls.some(call => call.value === 'yes')),
        refused: sometimes(s => s.calls.some(call => call.value === 'no')),
        logIsRight: always(s => s.nodes.every(({ state }) => state?.log.every(entry => entry.isRight) ?? true)),
        noLeader: always(s => s.nodes.filter(({ state }) => state?.leeder).length <= 1),
        saysYes: always(s => s.node('n1').state?.said !== 'no'),
        up: eventually(s => s.node('n1').alive, { within: '30s' }),
      },`),
    'nobody.config.ts': config("clients: { ann: async ({ n3 }) => (await n3.http(7000, '/')).body.text() },"),
  })
  directory = copy.directory
  return () => rmSync(directory, { recursive: true, force: true })
})

const check = (file: string, ...args: readonly string[]) =>
  lastnail(directory, 'check', file, '--executions', '12', ...args)

test('`held` says what never happened, what did, and what would look deeper', { timeout: 60_000 }, async () => {
  const { code, stdout } = await check('vague.config.ts', '--seed', '7')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  expect(stdout).toContain('note: no node ever had a state: `state` observed nothing')
  expect(stdout).toMatch(/note: client fails never returned a result: \d+ of \d+ calls threw, the first "no such luck"/)
  expect(stdout).toMatch(/note: client hangs never returned in \d+ calls?\n/)
  expect(stdout).toMatch(/note: no drop ever happened, though faults has drop: 1; it needs a datagram in flight/)
  expect(stdout).not.toMatch(/note: .*(works|crash)/)
  expect(stdout).toMatch(/^met: .*works returned in \d+ of \d+ calls/m)
  expect(stdout).toMatch(/^met: drop 0 times, crash [1-9]\d* times$/m)
  expect(stdout).toMatch(/^met: up held at some time in 12 of 12 executions$/m)
  expect(stdout).toMatch(/^searched: walks towards races, in \d+ executions of \d+ steps, to \d+ states first$/m)
  expect(stdout).toMatch(/^deeper: npx lastnail check vague\.config\.ts --for 10m --seed 8$/m)
})

test('`held` says which goals were never met, and which properties were never tested', async () => {
  const { code, stdout } = await check('goals.config.ts', '--json')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  const { sometimes, notes } = printed.check.parse(JSON.parse(stdout.trim().split('\n').at(-1)!))
  expect(sometimes).toEqual({ answered: expect.toSatisfy(count => count > 0), refused: 0 })
  expect(notes).toEqual([
    expect.stringMatching(/^refused was never met in any execution/),
    'logIsRight reads state.log, which was empty in every state',
    'noLeader was not tested: state.leeder was in no state',
    'up was checked without its bound of 30 s, because a search may delay messages without limit; emulate, and verify of its trace, judge it',
  ])
  const alone = await check('goals.config.ts', '--property', 'saysYes', '--json')
  expect(JSON.parse(alone.stdout.trim().split('\n').at(-1)!)).toMatchObject({ sometimes: {}, notes: [] })
})

test('programs find the notes in the object', async () => {
  const { code, stdout } = await check('bare.config.ts', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({
    verdict: 'held',
    notes: ['there are no properties, so only crashes and divergences were looked for'],
  })
})

test.each(['1', '2'])(
  'a client that asks for a node that there is not is a mistake, with %s workers',
  async workers => {
    const { code, stderr } = await check('nobody.config.ts', '--workers', workers)
    expect({ code, stderr }).toEqual({
      code: 64,
      stderr: 'lastnail: clients.ann: there is no node n3; did you mean "n1"?',
    })
  },
)
