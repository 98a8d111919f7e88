import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, here as lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

/** Two machines on both sides of a link of 20 ms. */
const line = {
  nodes: [
    { id: 'left', role: 'transit' },
    { id: 'right', role: 'transit' },
    ...['a', 'b'].map(id => ({ id, role: 'client' })),
  ],
  links: [
    { from: 'left', to: 'right', class: 'transit-transit', delayMs: 20, bandwidth: 1e7 },
    { from: 'left', to: 'a', class: 'client-stub', delayMs: 5, bandwidth: 1e7 },
    { from: 'right', to: 'b', class: 'client-stub', delayMs: 5, bandwidth: 1e7 },
  ],
}

/** Asks every 250 ms, and says which question was answered after how long. */
const ping = `
const socket = require('node:dgram').createSocket('udp4')
const [peer] = process.argv.slice(2)
socket.bind(7000)
if (!peer) socket.on('message', (asked, { address, port }) => socket.send(asked, port, address))
else {
  const asked = []
  setInterval(() => socket.send(String(asked.push(Date.now())), 7000, peer), 250)
  socket.on('message', answer => console.log(JSON.stringify({ asked: Number(answer), ms: Date.now() - asked[answer - 1] })))
}
`
const config = (links: string) => `
import { defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'line',
  nodes: { a: { command: ['node', 'ping.cjs', '{{b.address}}'] }, b: { command: ['node', 'ping.cjs'] } },
  state: jsonLines('stdout'),
  emulation: { topology: 'line.json', links: ${links} },
})
`
const planned = `[
  { at: '1600ms', link: ['right', 'left'], delayMs: 120 },
  { at: '3100ms', link: 'b', isDown: true },
  { at: '4100ms', link: 'b', isDown: false },
  { at: '4100ms', link: ['left', 'right'], asBefore: true },
]`

const copy = (links: string) => {
  const { directory, remove } = copyOfFixtures({
    'line.config.ts': config(links),
    'line.json': JSON.stringify(line),
    'ping.cjs': ping,
  })
  onTestFinished(remove)
  return directory
}

/** By the number of the question, after how many milliseconds it was answered. */
const answersIn = (trace: string): Map<number, number> => {
  const states = readTrace(trace).steps.flatMap(step => step.states.map(({ state }) => state))
  const answers = states.filter(state => typeof state === 'object' && state !== null) as { asked: number; ms: number }[]
  return new Map(answers.map(({ asked, ms }) => [asked, ms]))
}

const expectAbout = (expected: number, ms: number | undefined) => {
  expect(ms).toBeGreaterThanOrEqual(expected)
  expect(ms).toBeLessThan(expected + 3)
}

test('links change as planned while it runs, and in the same way when it is executed again', async () => {
  const directory = copy(planned)
  const { code, stdout } = await lastnail(directory, 'emulate', 'line.config.ts', '--for', '6s', '--json')
  expect(code).toBe(0)
  const { trace, hash } = JSON.parse(stdout)
  const answers = answersIn(join(directory, trace))
  // Questions are asked every 250 ms, the first at 250 ms. A link of 10 Mbit/s takes some hundredths of a millisecond for each.
  for (const asked of [1, 5]) expectAbout(60, answers.get(asked))
  for (const asked of [7, 10]) expectAbout(260, answers.get(asked))
  for (const asked of [13, 16]) expect(answers.has(asked)).toBe(false)
  for (const asked of [17, 20]) expectAbout(60, answers.get(asked))
  const labels = readTrace(join(directory, trace)).steps.map(({ choice }) => choice?.label)
  expect(labels).toEqual(
    expect.arrayContaining(['link right–left delayMs 120', 'link b down', 'link b up', 'link left–right as it was']),
  )
  const again = await lastnail(directory, 'emulate', 'line.config.ts', '--for', '6s', '--json')
  expect(JSON.parse(again.stdout).hash).toBe(hash)
  expect((await lastnail(directory, 'replay', trace)).code).toBe(0)
})

test.each(['real', 'native'])('told at the pace %s, a link changes', { timeout: 60_000 }, async pace => {
  const directory = copy('[]')
  const run = start(directory, ['emulate', 'line.config.ts', '--pace', pace, '--for', '5s', '--json'])
  const { control, origin, token } = await controlOf(run)
  while ((await control.list()).elapsedMs < 1000) await new Promise(resolve => setTimeout(resolve, 50))
  await expect(control.link({ link: ['a', 'b'], delayMs: 1 })).rejects.toThrow('no packet passes a link a–b')
  await control.link({ link: ['left', 'right'], delayMs: 220 })
  expect((await control.list()).links).toEqual([{ link: ['left', 'right'], delayMs: 220 }])
  const listed = await lastnail(directory, 'control', '--url', origin, '--token', token, 'list')
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n {2}link left–right delayMs 220$/) })
  const { exitCode, stdout } = await run
  expect(exitCode).toBe(0)
  const { trace } = JSON.parse(String(stdout).trimEnd().split('\n').at(-1)!)
  const times = [...answersIn(join(directory, trace)).values()]
  expect(Math.min(...times)).toBeLessThan(400)
  expect(Math.max(...times)).toBeGreaterThan(459)
  if (pace === 'native') return
  expect((await lastnail(directory, 'replay', trace)).code).toBe(0)
})

test('what cannot be is refused before anything starts', async () => {
  const refused = async (links: string) => {
    const { code, stderr } = await lastnail(copy(links), 'emulate', 'line.config.ts')
    expect(code).toBe(64)
    return stderr
  }
  expect(await refused("[{ at: '1s', link: ['a', 'b'], delayMs: 1 }]")).toContain(
    'emulation.links, at 1000 ms: no packet passes a link a–b',
  )
  expect(await refused("[{ at: '1s', link: 'left', loss: 0.1 }]")).toContain('no node left has a link of its own')
  expect(await refused("[{ at: '1s', link: 'a', loss: 2 }]")).toContain('expected a probability from 0 to 1, found 2')
})
