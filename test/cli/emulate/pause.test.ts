import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

/** Says each half second how long it has been silent at most, and answers whoever asks. */
const ticker = `
let last = Date.now()
let silentMs = 0
setInterval(() => {
  silentMs = Math.max(silentMs, Date.now() - last)
  console.log(JSON.stringify({ silentMs }))
  last = Date.now()
}, 500)
require('net').createServer(socket => socket.on('error', () => {}).end('here')).listen(7000)
`

const config = `
import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'ticker',
  nodes: { a: { command: ['node', 'ticker.js'], listens: 7000 }, b: { command: ['node', 'ticker.js'], listens: 7000 } },
  state: jsonLines('stdout'),
  properties: { isPunctual: always(({ nodes }) => nodes.every(({ state }) => (state?.silentMs ?? 0) < 1600)) },
})
`

const made = () => {
  const { directory, remove } = copyOfFixtures({
    'ticker.js': ticker,
    'ticker.config.ts': config,
    'churn.txt': '1200ms pause a\n3s resume a\n',
  })
  onTestFinished(remove)
  return directory
}

test('a script pauses a node, whose clock goes on; a replay repeats it', { timeout: 120_000 }, async () => {
  const directory = made()
  const run = () => lastnail(directory, 'emulate', 'ticker.config.ts', '--churn', 'churn.txt', '--for', '5s', '--json')
  const [one, other] = [JSON.parse((await run()).stdout), JSON.parse((await run()).stdout)]
  expect(one).toMatchObject({ verdict: 'violated', property: 'isPunctual', hash: other.hash })
  const { steps } = readTrace(join(directory, one.trace))
  const [paused, resumed] = ['pause', 'resume'].map(kind => steps.find(({ choice }) => choice?.kind === kind)!)
  expect([paused, resumed].map(step => [step!.atMs, step!.choice?.label])).toEqual([
    [1200, 'pause a'],
    [3000, 'resume a'],
  ])
  const between = steps.slice(paused!.index + 1, resumed!.index)
  expect(between.map(({ choice }) => choice!.node)).not.toContain('a')
  expect(between.map(({ choice }) => choice!.node)).toContain('b')
  // Its timer was due at 1.5 s.
  const [first] = steps.slice(resumed!.index).flatMap(({ states }) => states)
  expect(first).toEqual({ node: 'a', state: { silentMs: 2000 } })
  expect(await lastnail(directory, 'replay', one.trace)).toMatchObject({ code: 1 })
})

test.each(['real', 'native'])('told at the pace %s, a node is paused and goes on', { timeout: 120_000 }, async pace => {
  const directory = made()
  const run = start(directory, ['emulate', 'ticker.config.ts', '--pace', pace, '--for', '400h', '--json'])
  onTestFinished(async () => {
    run.kill('SIGKILL')
    await run
  })
  const { control } = await controlOf(run)
  while ((await control.list()).elapsedMs < 1000) await sleep(50)
  await control.pause('a')
  await sleep(3500)
  await control.resume('a')
  await sleep(1500)
  run.kill('SIGINT')
  const { trace } = JSON.parse(String((await run).stdout))
  const { steps } = readTrace(join(directory, trace))
  const [paused, resumed] = ['pause', 'resume'].map(kind => steps.findIndex(({ choice }) => choice?.kind === kind))
  expect(paused).toBeGreaterThan(0)
  expect(resumed).toBeGreaterThan(paused!)
  const late = steps
    .flatMap(({ states }) => states)
    .filter(({ state }) => (state as { silentMs: number })?.silentMs > 3000)
  expect([...new Set(late.map(({ node }) => node))]).toEqual(['a'])
})
