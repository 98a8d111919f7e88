import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

/** Answers whoever asks. */
const answering = `
require('net').createServer(socket => socket.on('error', () => {}).pipe(socket)).listen(7000)
`

/** Asks each half second, and says when the connection ends, or no answer came for two seconds. */
const asking = `
const socket = require('net').connect(7000, 'a')
const say = heard => console.log(JSON.stringify({ heard }))
let late
socket.on('error', ({ code }) => { clearTimeout(late); say(code) })
socket.on('data', () => { clearTimeout(late); late = setTimeout(say, 2000, 'nothing') })
setInterval(() => socket.writable && socket.write('?'), 500)
`

const config = `
import { defineSystem, eventually, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'power',
  nodes: {
    a: { command: ['node', 'answering.js'], listens: 7000 },
    b: { command: ['node', 'asking.js'], after: ['a'] },
  },
  state: jsonLines('stdout'),
  properties: { hears: eventually(({ nodes }) => nodes[1].state?.heard !== undefined) },
})
`

/** What b heard, and when, in a run in which a leaves after 3 s and joins after 7 s. */
const heard = async (directory: string, manner: string, ...pace: readonly string[]) => {
  const args = ['emulate', 'power.config.ts', '--churn', `${manner}.txt`, '--for', '10s', '--json', ...pace]
  const { stdout } = await lastnail(directory, ...args)
  const { trace } = JSON.parse(stdout)
  const { steps } = readTrace(join(directory, trace))
  const left = steps.find(({ choice }) => choice?.kind === 'crash')!
  const first = steps.flatMap(({ states, atMs }) =>
    states.flatMap(({ node, state }) => (node === 'b' ? [{ atMs, state }] : [])),
  )
  return { trace, left, all: first.filter(({ state }) => state !== null && state !== undefined) }
}

test('the peers of a node that loses its power are told nothing', { timeout: 120_000 }, async () => {
  const scripts = ['kill', 'power'].map(manner => [`${manner}.txt`, `3s leave a ${manner}\n7s join a\n`])
  const { directory, remove } = copyOfFixtures({
    ...{ 'answering.js': answering, 'asking.js': asking, 'power.config.ts': config },
    ...Object.fromEntries(scripts),
  })
  onTestFinished(remove)
  const killed = await heard(directory, 'kill')
  expect(killed.all.map(({ state }) => state)).toEqual([{ heard: 'ECONNRESET' }])
  expect(killed.all[0]!.atMs).toBeLessThan(3500)

  const unpowered = await heard(directory, 'power')
  expect(unpowered.left.choice?.label).toBe('leave a power')
  // Its new kernel does not know the connection.
  expect(unpowered.all.map(({ state }) => state)).toEqual([{ heard: 'nothing' }, { heard: 'ECONNRESET' }])
  expect(unpowered.all[0]!.atMs).toBeGreaterThan(4500)
  expect(unpowered.all[1]!.atMs).toBeGreaterThanOrEqual(7000)
  expect(await lastnail(directory, 'replay', unpowered.trace)).toMatchObject({ code: 0 })

  const natively = await heard(directory, 'power', '--pace', 'native')
  expect(natively.all.map(({ state }) => state)[0]).toEqual({ heard: 'nothing' })
})
