import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import type { RecordedVerdict } from '../../../checker/verdict/verdict.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'

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
  const { verdict } = readTrace(join(directory, summary.trace)).end! as { verdict: RecordedVerdict }
  const told = [...stderr.matchAll(/in (\d+) steps, (\d+) deviations?: (safety \w+)/g)]
  expect(verdict.predicted).toEqual(
    told.map(([, steps, deviations, what]) => {
      return { step: expect.any(Number), what, steps: Number(steps), deviations: Number(deviations) }
    }),
  )
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

test('a round gives nodes so many inputs, and as many for what is to be prevented', { timeout: 120_000 }, async () => {
  const one = await emulate('1', '--predict', '--every', '1s', '--inputs', '3')
  expect(one.summary.predictions).toMatchObject({ rounds: 3, inputs: 9 })
  const steered = await emulate('true', '--steer', 'predict', '--every', '1s', '--inputs', '9')
  expect(steered.summary.predicted).toBeGreaterThan(0)
  const { rounds, inputs } = steered.summary.predictions
  expect(inputs).toBeLessThanOrEqual(2 * 9 * rounds)
})

test('a round waits until no client is in the middle of a call', { timeout: 120_000 }, async () => {
  // Each call lasts 700 ms, with 300 ms between them.
  const slow = `${take}\n require('node:net').createServer(socket => setTimeout(() => socket.end('x'), 700)).listen(8000)`
  const config = numbers('1')
    .replace(`['node', 'take.cjs']`, `['node', 'slow.cjs'], listens: 8000`)
    .replace(
      'faults:',
      `clients: { wait: async ({ taker }) => { for await (const _ of taker.tcp(8000)) return 1 } }, faults:`,
    )
    .replace(`{ for: '3s' }`, `{ for: '6s', clients: { wait: '300ms' } }`)
  const { directory, remove } = copyOfFixtures({ 'give.cjs': give, 'slow.cjs': slow, 'n.config.ts': config })
  onTestFinished(remove)
  const args = ['emulate', 'n.config.ts', '--predict', '--every', '700ms', '--inputs', '3', '--json']
  const { predictions, notes } = JSON.parse((await lastnail(directory, ...args)).stdout)
  expect(predictions.rounds).toBe(7)
  expect(notes.filter((note: string) => note.includes('could not be marked'))).toEqual([])
})

test('how much of the CPU is taken does not change a run', { timeout: 120_000 }, async () => {
  const [less, more] = await Promise.all([emulate('1', '--share', '0.1'), emulate('1', '--share', '0.95')])
  expect(less.summary.hash).toBe(more.summary.hash)
  expect(await emulate('1', '--share', '1')).toMatchObject({
    code: 64,
    stderr: "lastnail: option '--share <share>' argument '1' is invalid. expected a number from 0 to 0.95.",
  })
})

test('at the pace real a process that follows predicts, and records at the end', { timeout: 600_000 }, async () => {
  const predictedFor = (duration: string) =>
    emulate('true', '--pace', 'real', '--for', duration, '--predict', '--every', '1s')
  // On a busy machine the process has caught up with the run later, and is slower to repeat what it predicted.
  let run = await predictedFor('12s')
  for (const longer of ['60s', '240s']) if (!run.summary.predictions.found.length) run = await predictedFor(longer)
  const { code, summary, stderr } = run
  expect(stderr).toMatch(/^lastnail: at [\d.]+ s, in \d+ steps, \d+ deviations?: safety noneMissing$/m)
  expect({ code, summary }).toMatchObject({
    code: 1,
    summary: { verdict: 'violated', property: 'noneMissing', predictions: { found: [{ property: 'noneMissing' }] } },
  })
  expect(summary.predicted).toBeGreaterThan(0)
  expect(summary.predictions.behindMs).toBeGreaterThanOrEqual(0)
})

test('a process that follows leaves out a property that is false, and predicts violations of the others', {
  timeout: 240_000,
}, async () => {
  const isFalse = `nothingGiven: always(s => s.node('giver').state === undefined)`
  const config = numbers('true').replace('properties: {', `properties: { ${isFalse},`)
  const { directory, remove } = copyOfFixtures({ 'give.cjs': give, 'take.cjs': take, 'n.config.ts': config })
  onTestFinished(remove)
  const args = ['emulate', 'n.config.ts', '--pace', 'real', '--for', '180s', '--predict', '--every', '1s', '--json']
  const running = start(directory, args)
  onTestFinished(() => void running.kill('SIGKILL'))
  let said = ''
  running.stderr!.setEncoding('utf8').on('data', text => (said += text))
  await expect.poll(() => said, { timeout: 200_000, interval: 200 }).toMatch(/steps, \d+ deviations?: safety/)
  running.kill('SIGINT')
  await running
  expect(said).toMatch(/^lastnail: at [\d.]+ s, in \d+ steps, \d+ deviations?: safety noneMissing$/m)
  expect(said).not.toContain('safety nothingGiven')
})

test('a run goes on if the process that predicts is killed', { timeout: 120_000 }, async () => {
  const { directory, remove } = copyOfFixtures({ 'give.cjs': give, 'take.cjs': take, 'n.config.ts': numbers('1') })
  onTestFinished(remove)
  const args = ['emulate', 'n.config.ts', '--pace', 'real', '--for', '90s', '--predict', '--every', '1s', '--json']
  const running = start(directory, args)
  onTestFinished(() => void running.kill('SIGKILL'))
  const said: string[] = []
  running.stderr!.setEncoding('utf8').on('data', text => said.push(text))
  await expect.poll(() => said.join(''), { timeout: 60_000 }).toContain('control at')
  const [, origin, token] = /control at (\S+) with token (\S+)/.exec(said.join(''))!
  const metrics = async () =>
    (await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
  await expect.poll(metrics, { timeout: 60_000 }).toMatch(/^lastnail_prediction_rounds_total [1-9]/m)
  expect(await metrics()).toMatch(/^lastnail_predictor_behind_seconds \d/m)
  process.kill(followerOf(running.pid!), 'SIGKILL')
  const looks = async () => Number(/^lastnail_looks_total (\d+)/m.exec(await metrics())![1])
  const before = await looks()
  await expect.poll(looks, { timeout: 30_000 }).toBeGreaterThan(before + 1)
  running.kill('SIGINT')
  const { stdout } = await running
  const summary = JSON.parse(String(stdout).trim().split('\n').at(-1)!)
  expect(summary).toMatchObject({ property: null, predicted: 0 })
  expect(summary.notes).toContain('the predictor ended before the run: it ended by SIGKILL')
  expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
})

/** The process that follows a run, by its parent. */
const followerOf = (parent: number): number => {
  const children = readdirSync(`/proc/${parent}/task`).flatMap(task =>
    readFileSync(`/proc/${parent}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return children.find(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('follower'))!
}

test('at the pace native nothing is predicted', async () => {
  expect(await emulate('1', '--pace', 'native', '--predict')).toMatchObject({
    code: 64,
    stderr: 'lastnail: --predict begins at states of the run, which at the pace native are not known',
  })
})
