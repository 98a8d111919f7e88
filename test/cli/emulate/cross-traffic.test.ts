import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, here as lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

const mbit = 1e6
/** Two machines behind a narrow link, which takes 12 ms for 1,500 bytes. */
const line = (cross?: object) => ({
  nodes: [{ id: 'hub', role: 'transit' }, ...['a', 'b'].map(id => ({ id, role: 'client' }))],
  links: [
    { from: 'hub', to: 'a', class: 'client-stub', delayMs: 5, bandwidth: mbit, queue: { packets: 100 }, cross },
    { from: 'hub', to: 'b', class: 'client-stub', delayMs: 5 },
  ],
})

/** Asks every 100 ms, and says which question was answered after how long. */
const ping = `
const socket = require('node:dgram').createSocket('udp4')
const [peer] = process.argv.slice(2)
socket.bind(7000)
if (!peer) socket.on('message', (asked, { address, port }) => socket.send(asked, port, address))
else {
  const asked = []
  setInterval(() => socket.send(String(asked.push(Date.now())), 7000, peer), 100)
  socket.on('message', answer => console.log(JSON.stringify({ asked: Number(answer), ms: Date.now() - asked[answer - 1] })))
}
`
const config = (commands: string, more = '') => `
import { defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'line',
  nodes: { ${commands} },
  state: jsonLines('stdout'),
  emulation: { topology: 'line.json', ${more} },
})
`
const pings = "a: { command: ['node', 'ping.cjs', '{{b.address}}'] }, b: { command: ['node', 'ping.cjs'] }"
const streams =
  "a: { command: ['node', 'stream.cjs', 'send', '{{b.address}}', 'x'] }, b: { command: ['node', 'stream.cjs', 'receive'] }"

const copy = (files: { readonly config: string; readonly cross?: object }) => {
  const { directory, remove } = copyOfFixtures({
    'line.config.ts': files.config,
    'line.json': JSON.stringify(line(files.cross)),
    'ping.cjs': ping,
  })
  onTestFinished(remove)
  return directory
}

const run = async (directory: string, ...args: readonly string[]) => {
  const { code, stdout } = await lastnail(directory, 'emulate', 'line.config.ts', ...args, '--json')
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

const statesIn = (trace: string) =>
  readTrace(trace).steps.flatMap(step => step.states.flatMap(({ state }) => (state ? [state] : [])))

/** After how many milliseconds questions were answered, in order. */
const answersIn = (trace: string): number[] => {
  const times = new Map((statesIn(trace) as { asked: number; ms: number }[]).map(({ asked, ms }) => [asked, ms]))
  return [...times.values()]
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

test('questions wait behind traffic of others, as long as the theory of queues says, and the same when run again', async () => {
  const cross = { bandwidth: 0.6 * mbit, bytes: 1500, burst: 2 }
  const directory = copy({ config: config(pings), cross })
  const { trace, hash } = await run(directory, '--for', '100s')
  const answers = answersIn(join(directory, trace))
  expect(answers.length).toBeGreaterThan(980)
  // There and back, each as in M/D/1: bursts that are sent in 24 ms. Clocks are read to the millisecond.
  const expected = 2 * (10 + (0.6 * 24) / (2 * (1 - 0.6)))
  expect(Math.abs(mean(answers) - expected)).toBeLessThan(0.1 * expected)
  expect((await run(directory, '--for', '100s')).hash).toBe(hash)
  expect((await run(directory, '--for', '100s', '--seed', '2')).hash).not.toBe(hash)
  expect((await lastnail(directory, 'replay', trace)).code).toBe(0)
})

test.each([
  ['virtual', '60s'],
  ['native', '8s'],
])('a stream gets what others leave, at the pace %s', { timeout: 60_000 }, async (pace, duration) => {
  const directory = copy({ config: config(streams), cross: { bandwidth: 0.6 * mbit } })
  const { trace, virtualSeconds } = await run(directory, '--pace', pace, '--for', duration)
  const { x: bytes } = statesIn(join(directory, trace)).at(-1) as { x: number }
  const rate = (bytes * 8) / virtualSeconds / mbit
  // Besides what others leave it displaces a few of their packets, where the queue is full.
  expect(rate).toBeLessThan(0.5)
  expect(rate).toBeGreaterThan(pace === 'native' ? 0.15 : 0.3)
})

test('it comes and goes while the system runs, as planned or as told', { timeout: 60_000 }, async () => {
  const planned =
    "links: [{ at: '5s', link: 'a', cross: { bandwidth: 2e6 } }, { at: '10s', link: 'a', cross: { bandwidth: 0 } }]"
  const directory = copy({ config: config(pings, planned) })
  const answers = answersIn(join(directory, (await run(directory, '--for', '15s')).trace))
  expect(answers.slice(0, 45).every(ms => ms < 25)).toBe(true)
  expect(answers.slice(-40).every(ms => ms < 25)).toBe(true)
  // A hundred packets of 8 ms wait meanwhile, and only half of those that come find a place.
  expect(Math.max(...answers)).toBeGreaterThan(750)
  expect(answers.length).toBeLessThan(130)

  const told = start(directory, ['emulate', 'line.config.ts', '--pace', 'real', '--for', '4s', '--json'])
  const { control } = await controlOf(told)
  await expect(control.link({ link: 'b', cross: { bandwidth: 1 } })).rejects.toThrow('bandwidth without limit')
  await expect(control.link({ link: 'a', cross: { bandwidth: -1 } })).rejects.toThrow(
    'cross: bandwidth: expected bits a second, at least 0',
  )
  await control.link({ link: 'a', cross: { bandwidth: 0.9 * mbit, burst: 20 } })
  const { exitCode, stdout } = await told
  expect(exitCode).toBe(0)
  const { trace } = JSON.parse(String(stdout).trimEnd().split('\n').at(-1)!)
  expect(Math.max(...answersIn(join(directory, trace)))).toBeGreaterThan(60)
  expect((await lastnail(directory, 'replay', trace)).code).toBe(0)
})

test('what cannot be is refused before anything starts', async () => {
  const refused = async (files: Parameters<typeof copy>[0]) => {
    const { code, stderr } = await lastnail(copy(files), 'emulate', 'line.config.ts')
    expect(code).toBe(64)
    return stderr
  }
  expect(await refused({ config: config(pings), cross: { bandwidth: '2Mbit' } })).toContain(
    'links[0].cross.bandwidth: expected bits a second, at least 0, found "2Mbit"',
  )
  const event = (cross: string, link = 'a') => config(pings, `links: [{ at: '1s', link: '${link}', cross: ${cross} }]`)
  expect(await refused({ config: event('{ bandwidth: 1, burst: 200 }') })).toContain(
    'emulation.links[0].cross.burst: expected how many packets come at once, from 1 to 100',
  )
  expect(await refused({ config: event('{ bandwidth: 1 }', 'b') })).toContain(
    'emulation.links, at 1000 ms: link b has bandwidth without limit, of which cross traffic takes nothing away',
  )
  const generated = config(pings).replace("'line.json'", "{ kind: 'star', cross: { share: 2 } }")
  expect(await refused({ config: generated })).toContain('emulation.topology.cross.share: expected a share from 0 to 1')
  const { code, stderr } = await lastnail(
    copy({ config: event('{ bandwidth: 1 }') }),
    'control',
    'set',
    'a',
    'b',
    '--cross',
    '9',
  )
  expect([code, stderr]).toEqual([64, 'lastnail: --cross: expected --bandwidth beside it'])
})
