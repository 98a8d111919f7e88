import { existsSync, rmSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { aboutCallsLeft, aboutWrites, deeperThan } from '../../../cli/check/notes.ts'
import { printed } from '../../../cli/printed/printed.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'

const config = (parts: string) => `
  import { always, defineSystem, eventually, history, jsonLines, sometimes } from 'lastnail'
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
        reads: (_, { operation }) => operation({ op: 'read' }, async () => 503),
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
        nothing: always(() => true),
        counts: always(history((before = 0) => before + 1, (_, count) => count > 0)),
        alive: always(s => s.nodes.every(({ alive }) => alive)),
        saysYes: always(s => s.node('n1').state?.said !== 'no'),
        up: eventually(s => s.node('n1').alive, { within: '30s' }),
      },`),
    'mortal.js':
      "require('node:http').createServer((_, response) => { response.write('{}'); process.exit(3) }).listen(7000)",
    'mortal.config.ts': `
      import { always, defineSystem } from 'lastnail'
      export default defineSystem({
        name: 'mortal',
        nodes: { n1: { command: [process.execPath, 'mortal.js'], listens: 7000 } },
        clients: { ask: async ({ n1 }) => (await n1.http(7000, '/')).body.text() },
        properties: { noAnswer: always(s => s.calls.every(call => call.value === undefined)) },
      })`,
    // Of three calls it answers the first; after two seconds it ends, and until then it is stuck.
    'refuses.js': `
      let calls = 0
      const answer = (_, response) => { response.statusCode = calls++ === 0 ? 200 : 503; response.end('answer') }
      require('node:http').createServer(answer).listen(7000)`,
    'refuses.config.ts': `
      import { defineSystem } from 'lastnail'
      const ask = async n1 => (await n1.http(7000, '/price', { method: 'PUT' }))
      export default defineSystem({
        name: 'refuses',
        nodes: { n1: { command: [process.execPath, 'refuses.js'], listens: 7000 } },
        clients: {
          counts: { times: 3, run: async ({ n1 }) => (await ask(n1)).statusCode },
          throws: { times: 3, run: async ({ n1 }) => { if ((await ask(n1)).statusCode !== 200) throw new Error('not stored') } },
          // Whoever asks until it is answered was not refused.
          insists: async ({ n1 }) => { await ask(n1); return (await n1.http(7000, '/', { method: 'GET' })).statusCode > 0 },
        },
      })`,
    'ends.js': `
      const tell = stuck => console.log(JSON.stringify({ stuck }))
      tell(false)
      setTimeout(() => tell(true), 1000)
      setTimeout(() => process.exit(0), 2000)`,
    'ends.config.ts': `
      import { defineSystem, eventually, jsonLines } from 'lastnail'
      const node = { command: [process.execPath, 'ends.js'] }
      export default defineSystem({
        name: 'ends',
        nodes: { n1: node, n2: node },
        state: jsonLines(),
        properties: {
          free: eventually(s => !s.node('n1').state?.stuck),
          all: eventually(s => s.nodes.every(({ state }) => !state?.stuck)),
          printedFirst: eventually(s => s.node('n1').state?.stuck !== false),
        },
      })`,
    // It says one word, and n2 gives up after five seconds without one.
    'waits.js': `
      const socket = require('node:dgram').createSocket('udp4').bind(7000)
      const [, , to] = process.argv
      if (to) socket.send('word', 7000, to)
      else {
        const waiting = setTimeout(() => console.log(JSON.stringify({ gaveUp: true })), 5000)
        socket.on('message', () => clearTimeout(waiting))
      }`,
    'waits.config.ts': `
      import { always, defineSystem, jsonLines } from 'lastnail'
      export default defineSystem({
        name: 'waits',
        nodes: {
          n1: { command: [process.execPath, 'waits.js', '{{n2.address}}'] },
          n2: { command: [process.execPath, 'waits.js'] },
        },
        state: jsonLines(),
        delay: process.env.DELAY,
        properties: { waits: always(s => !s.node('n2').state?.gaveUp) },
      })`,
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
  expect(stdout).toMatch(/^met: .*works returned in \d+ of \d+ calls(?: and threw in \d+)? \("yes": \d+ times\)$/m)
  expect(stdout).toMatch(/^met: operation read \d+ times \(503: \d+ times\)$/m)
  expect(stdout).toMatch(/^met: drop 0 times, crash [1-9]\d* times? in [1-9]\d? executions?$/m)
  expect(stdout).toMatch(/^met: up was never false$/m)
  expect(stdout).toMatch(/^met: state of fine was there at the end of 0 of 12 executions$/m)
  expect(stdout).toMatch(/^searched: walks towards races, in \d+ executions? of \d+ steps?, to \d+ states? first$/m)
  expect(stdout.indexOf('\nmet: ')).toBeLessThan(stdout.indexOf('\nsearched: '))
  expect(stdout).toMatch(/^deeper: npx lastnail check vague\.config\.ts --for 10m --seed 8$/m)
})

test('faults of nodes alone are not said to be missing in the whole system', async () => {
  const { code, stdout } = await check('vague.config.ts', '--search', 'deviations')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  expect(stdout).toContain('; by deviations ')
  expect(stdout).not.toMatch(/ever happened, though faults/)
})

test('`held` leaves one execution to look at, and its report', async () => {
  const { stdout } = await check('bare.config.ts', '--json')
  const { trace, sample, report } = printed.check.parse(JSON.parse(stdout.trim().split('\n').at(-1)!))
  expect({ trace, report }).toEqual({ trace: null, report: sample!.replace(/trace$/, 'html') })
  expect(existsSync(report!)).toBe(true)
  expect(await lastnail(directory, 'replay', sample!)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nexecuted \d+ steps?, all as recorded; no violation$/),
  })
})

test('`held` says which goals were never met, and which properties were never tested', {
  timeout: 300_000,
}, async () => {
  const { code, stdout } = await check('goals.config.ts', '--json')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  const { sometimes, notes } = printed.check.parse(JSON.parse(stdout.trim().split('\n').at(-1)!))
  expect(sometimes).toEqual({ answered: expect.toSatisfy(count => count > 0), refused: 0 })
  expect(notes).toEqual([
    expect.stringMatching(/^refused was never met in any execution/),
    'logIsRight reads state.log, which was empty in every state',
    'noLeader was not tested: state.leeder was in no state',
    'nothing was not tested: it reads nothing of the state',
    'up was checked without its bound of 30 s, because a search may delay messages without limit; emulate, and verify of its trace, judge it',
  ])
  const alone = await check('goals.config.ts', '--property', 'saysYes', '--json')
  expect(JSON.parse(alone.stdout.trim().split('\n').at(-1)!)).toMatchObject({ sometimes: {}, notes: [] })
})

test('calls that fail are a note with the first error, whether they throw or get an HTTP error', async () => {
  const { code, stdout } = await check('refuses.config.ts', '--executions', '6')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  const failed = 'client counts failed in \\d+ of \\d+ calls: '
  expect(stdout).toMatch(
    new RegExp(`^note: ${failed}\\d+ ended with an HTTP error, the first PUT /price of n1 answered 503$`, 'm'),
  )
  expect(stdout).toMatch(/^note: client throws .* threw, the first "not stored"$/m)
  expect(stdout).toMatch(/^met: counts returned in \d+ of \d+ calls, \d+ of these after an HTTP error \(503: /m)
})

test('a state that recovers only by the end of its node is a note', async () => {
  const { code, stdout } = await check('ends.config.ts', '--json')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  const { notes, met } = printed.check.parse(JSON.parse(stdout.trim().split('\n').at(-1)!))
  const { free, all, printedFirst } = met!.eventually
  expect(free).toMatchObject({ againAfterEnd: free!.again, againAfterEndOf: { n1: free!.again } })
  expect(free!.again).toBeGreaterThan(0)
  expect(all!.againAfterEnd).toBe(all!.again)
  expect(printedFirst!.againAfterEnd).toBeLessThan(printedFirst!.again)
  expect(notes.filter(note => note.includes('had ended'))).toEqual([
    'free, once false, held again only after node n1 had ended',
    expect.stringMatching(/^all, once false, held again only after .* had ended$/),
  ])
})

test('a bound that makes a fault impossible is a note: which timers it held back, and how often', async () => {
  const withDelay = async (delay: string, executions: string) => {
    const args = ['check', 'waits.config.ts', '--executions', executions, '--json']
    const { stdout } = await start(directory, args, { env: { DELAY: delay } })
    return printed.check.parse(JSON.parse(String(stdout).trim().split('\n').at(-1)!))
  }
  const held = await withDelay('2s', '4')
  expect(held.verdict).toBe('held')
  expect(held.met!.heldBack).toEqual({ delay: { n2: { states: 4, fired: expect.any(Number), example: '+5000ms' } } })
  expect(held.notes).toContainEqual(
    expect.stringMatching(
      /^`delay` held timers back while a message was in flight: of n2 in 4 states \(such as \+5000ms; fired \d times?\)$/,
    ),
  )
  expect((await withDelay('6s', '40')).verdict).toBe('violated')
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

test('a dead state after which no client may call is a note, for a call might have ended it', () => {
  const run = async () => {}
  const clients = [
    { name: 'put', times: 2, run },
    { name: 'get', times: 1, run },
  ]
  const after = (...schedule: readonly string[]) => {
    const critical = { step: schedule.length, label: schedule.at(-1)!, case: 'C1', walks: 60, walkLength: 64 } as const
    return aboutCallsLeft({ clients }, { kind: 'liveness', criticalTransition: critical, schedule })
  }
  expect(after('client put', 'client get', 'n1→n2 #1 client put')).toEqual([])
  expect(after('client put', 'client get', 'client put')).toEqual([
    expect.stringMatching(/^no client had a call left after step 3, so a recovery that takes one could not be seen/),
  ])
  expect(aboutCallsLeft({ clients: [] }, { kind: 'safety', criticalTransition: null, schedule: [] })).toEqual([])
})

test('that nodes write to this machine is a note where something could not be decided', () => {
  const nodes = [
    { name: 'one', write: ['/srv/jobs'] },
    { name: 'other', write: ['/srv/jobs', '/srv/log'] },
    { name: 'third', write: [] },
  ]
  expect(aboutWrites({ nodes }, { verdict: 'undetermined' })).toEqual([
    'one, other may write to /srv/jobs, /srv/log of this machine (`write`), which no execution undoes: each finds what those before it left there',
  ])
  expect(aboutWrites({ nodes }, { verdict: 'violated' })).toEqual([])
  expect(aboutWrites({ nodes: nodes.slice(2) }, { verdict: 'undetermined' })).toEqual([])
})

test('the deeper search is the same search, and its command one that a shell reads', () => {
  const options = {
    from: "ann's.trace:3",
    everyOrder: true,
    rewind: false,
    property: 'no loss',
    search: 'walk',
  } as const
  expect(deeperThan('a b.config.ts', { seed: 1 }, options)).toBe(
    "npx lastnail check 'a b.config.ts' --for 10m --seed 2 --property 'no loss' --search walk --from 'ann'\\''s.trace:3' --every-order --rewind off",
  )
})

test.each(['1', '2'])('with --property, crashes are counted and the search goes on, in %s workers', async workers => {
  const args = ['--property', 'noAnswer', '--workers', workers]
  const { code, stdout } = await check('mortal.config.ts', ...args)
  expect(stdout).toMatch(/^note: \d+ of 12 executions ended by a crash or divergence, .*first: crash of n1 /m)
  expect(code).not.toBe(1)
  expect(await check('mortal.config.ts')).toMatchObject({ code: 1 })
})
