import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from './lastnail.ts'

const give = `
  const socket = require('node:dgram').createSocket('udp4')
  let number = 0
  setInterval(() => {
    socket.send(String(++number), 7000, process.env.TO)
    console.log(JSON.stringify({ number }))
  }, 300)
`
const take = `
  let next = 1
  require('node:dgram').createSocket('udp4').on('message', data => {
    const isMissing = Number(data) > next
    next = Number(data) + 1
    console.log(JSON.stringify({ isMissing }))
  }).bind(7000)
`
/** In the run all numbers come in order; a prediction may lose one, and let one overtake another. */
const numbers = (missing: string) => `
import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'numbers',
  nodes: {
    giver: { command: ['node', 'give.cjs'], env: { TO: '{{taker.address}}' } },
    taker: { command: ['node', 'take.cjs'] },
  },
  state: jsonLines('stdout'),
  faults: { drop: 1 },
  properties: { noneMissing: always(s => s.node('taker').state?.isMissing !== ${missing}) },
  emulation: { for: '3s' },
})
`

const emulate = async (missing: 'true' | '1', ...args: readonly string[]) => {
  const { directory, remove } = copyOfFixtures({ 'give.cjs': give, 'take.cjs': take, 'n.config.ts': numbers(missing) })
  onTestFinished(remove)
  const { code, stdout, stderr } = await lastnail(directory, 'emulate', 'n.config.ts', ...args, '--json')
  return { code, directory, summary: stdout && JSON.parse(stdout), stderr }
}

test('what may come is predicted beside a run, told at once, and executed from the start of the run', {
  timeout: 180_000,
}, async () => {
  const alone = await emulate('true')
  expect(alone).toMatchObject({ code: 0, summary: { verdict: 'held', predicted: 0 } })
  const { code, summary, stderr, directory } = await emulate('true', '--predict', '--every', '1s')
  expect(summary.hash).toBe(alone.summary.hash)
  expect({ code, summary }).toMatchObject({
    code: 1,
    summary: {
      ...{ verdict: 'violated', property: 'noneMissing', kind: 'safety', predicted: 3 },
      predictions: { rounds: 3, found: [{ atMs: 1000, property: 'noneMissing' }] },
    },
  })
  expect(stderr).toMatch(/^lastnail: at 1 s, in \d+ steps, \d+ deviations?: safety noneMissing: .*\.trace$/m)
  const [found] = summary.predictions.found
  expect(await lastnail(directory, 'replay', found.trace)).toMatchObject({ code: 1 })
})

test('where nothing can go wrong nothing is predicted, and the run is as without', { timeout: 120_000 }, async () => {
  const alone = await emulate('1')
  const { code, summary } = await emulate('1', '--predict', '--every', '1s')
  expect([code, summary.verdict, summary.hash, summary.predicted]).toEqual([0, 'held', alone.summary.hash, 0])
  expect(summary.predictions).toMatchObject({ rounds: 3, found: [] })
  expect(summary.predictions.inputs).toBeGreaterThan(0)
})

test.each(['real', 'native'])('at the pace %s no clock can be stopped', async pace => {
  expect(await emulate('1', '--pace', pace, '--predict')).toMatchObject({
    code: 64,
    stderr: `lastnail: --predict stops the clock, which at the pace ${pace} goes on`,
  })
})
