import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'

const programs = {
  'give.cjs': `
    const { createSocket } = require('node:dgram')
    const { connect } = require('node:net')
    const socket = createSocket('udp4')
    let number = 0
    const giving = setInterval(() => {
      number += 1
      if (process.env.BY === 'again') number = Math.min(number, 9)
      if (number === 10) clearInterval(giving)
      console.log(JSON.stringify({ given: number }))
      if (process.env.BY !== 'tcp') socket.send(String(number), 7000, process.env.TO)
      else connect(7000, process.env.TO, function () { this.end(String(number)) }).on('error', () => {})
    }, 500)
  `,
  'take.cjs': `
    const { createSocket } = require('node:dgram')
    const { createServer } = require('node:net')
    const take = data => console.log(JSON.stringify({ number: Number(data) }))
    createSocket('udp4').on('message', take).bind(7000)
    createServer(socket => socket.on('data', take).on('error', () => {})).listen(7000)
    let own = 0
    const taking = process.env.BY === 'itself' && setInterval(() => {
      take(++own)
      if (own === 10) clearInterval(taking)
    }, 500)
  `,
}

const never = (by: string, bad: number) => `
import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'numbers',
  nodes: {
    giver: { command: ['node', 'give.cjs'], env: { TO: '{{taker.address}}', BY: '${by}' } },
    taker: { command: ['node', 'take.cjs'], env: { BY: '${by}' }, listens: 7000 },
  },
  state: jsonLines('stdout'),
  properties: { neverBad: always(s => s.node('taker').state?.number !== ${bad}) },
  emulation: { for: '6s' },
})
`

const emulate = async (by: string, bad: number, ...args: readonly string[]) => {
  const { directory, remove } = copyOfFixtures({ ...programs, 'never.config.ts': never(by, bad) })
  onTestFinished(remove)
  const { code, stdout, stderr } = await lastnail(directory, 'emulate', 'never.config.ts', '--json', ...args)
  const said = stderr.split('\n').filter(line => line.includes('neverBad'))
  return { code, said, directory, summary: stdout && JSON.parse(stdout), stderr }
}

test.each([
  ['udp', /is predicted behind giver→taker #9 1 byte :7000 "9": giver→taker #9 1 byte :7000 "9" is lost$/],
  ['tcp', /is predicted behind giver→taker #\d+ 1 byte :7000 "9": the connection of .* is reset in its place$/],
])('what leads to a predicted violation does not arrive, by %s', { timeout: 240_000 }, async (by, done) => {
  expect(await emulate(by, 9)).toMatchObject({ code: 1, summary: { property: 'neverBad' } })
  const { code, summary, said, directory } = await emulate(by, 9, '--steer', 'predict', '--every', '1s')
  expect({ code, summary }).toMatchObject({
    code: 0,
    summary: { verdict: 'held', steered: 1, immediate: 0, missed: 0, inconsistent: 0 },
  })
  expect(summary.predicted).toBeGreaterThan(0)
  expect(said[0]).toMatch(/^lastnail: at 1 s, in \d+ steps, 0 deviations: safety neverBad$/)
  expect(said[1]).toMatch(done)
  expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
})

test('a steered run repeats; what comes before a filter is on is left to the check', { timeout: 240_000 }, async () => {
  const one = await emulate('udp', 5, '--steer', '--every', '1s')
  expect(one).toMatchObject({ code: 0, summary: { verdict: 'held', steered: 0, immediate: 1, missed: 0 } })
  const other = await emulate('udp', 9, '--steer', '--every', '1s')
  expect(other).toMatchObject({ code: 0, summary: { verdict: 'held', steered: 1, immediate: 0, missed: 0 } })
  expect((await emulate('udp', 9, '--steer', '--every', '1s')).summary.hash).toBe(other.summary.hash)
})

test('nothing is prevented if a violation is predicted then too', { timeout: 240_000 }, async () => {
  const { code, summary } = await emulate('itself', 9, '--steer', 'predict', '--every', '3s', '--for', '5s')
  expect({ code, summary }).toMatchObject({ code: 1, summary: { steered: 0, missed: 0, predicted: 1 } })
  expect(summary.notes).toContain('against 1 prediction nothing was prevented: a violation was predicted then too')
})

test('what is sent again and again is prevented in three rounds, then given up, and a line says so', {
  timeout: 240_000,
}, async () => {
  const args = ['--steer', 'predict', '--every', '1s', '--for', '9s']
  const { code, summary, said } = await emulate('again', 9, ...args)
  expect({ code, summary }).toMatchObject({ code: 1, summary: { verdict: 'violated', property: 'neverBad' } })
  expect(summary.steered).toBeGreaterThanOrEqual(3)
  expect(said.filter(line => line.includes('would starve'))).toEqual([
    expect.stringMatching(
      /neverBad is predicted behind giver→taker #\d+ 1 byte :7000 "9" again, which is not kept from/,
    ),
  ])
})

test('at the pace real what a process foresees is prevented, however late the machine is', {
  timeout: 240_000,
}, async () => {
  // Each life of the giver sends a 9 once, after 4.5 s.
  const lives = Array.from({ length: 20 }, (_, life) => [
    `${9 * (life + 1)}s leave giver kill`,
    `${9 * (life + 1) + 0.5}s join giver`,
  ])
  const files = { ...programs, 'never.config.ts': never('udp', 9), 'lives.txt': `${lives.flat().join('\n')}\n` }
  const { directory, remove } = copyOfFixtures(files)
  onTestFinished(remove)
  const args = [
    '--pace',
    'real',
    '--for',
    '180s',
    '--churn',
    'lives.txt',
    '--steer',
    'predict',
    '--every',
    '1s',
    '--json',
  ]
  const running = start(directory, ['emulate', 'never.config.ts', ...args])
  onTestFinished(() => void running.kill('SIGKILL'))
  let said = ''
  running.stderr!.setEncoding('utf8').on('data', text => (said += text))
  const prevented = /neverBad is predicted behind giver→taker #\d+ 1 byte :7000 "9": .* is lost$/m
  await expect.poll(() => said, { timeout: 200_000, interval: 200 }).toMatch(prevented)
  running.kill('SIGINT')
  const { stdout } = await running
  const summary = JSON.parse(String(stdout).trim().split('\n').at(-1)!)
  expect(summary.steered).toBeGreaterThan(0)
  const { inTime, late, lateMs } = summary.predictions.filters
  expect(inTime + late).toBeGreaterThan(0)
  expect(lateMs > 0).toBe(late > 0)
})

test('a run in which nothing can go wrong is the same when it is steered', { timeout: 120_000 }, async () => {
  const alone = await emulate('udp', -1)
  const { code, summary } = await emulate('udp', -1, '--steer', '--every', '2s')
  expect([code, summary.hash]).toEqual([0, alone.summary.hash])
  expect(summary).toMatchObject({ predicted: 0, steered: 0, immediate: 0, missed: 0 })
})
