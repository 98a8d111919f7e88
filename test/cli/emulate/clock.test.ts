import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

/** Says each half second how far its two clocks are apart, in minutes. */
const ticker = `
const apart = () => Math.round((Date.now() - performance.now()) / 60_000)
const begun = apart()
setInterval(() => console.log(JSON.stringify({ apart: apart() - begun })), 500)
`

const config = `
import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'ticker',
  nodes: { a: { command: ['node', 'ticker.js'] }, b: { command: ['node', 'ticker.js'] } },
  state: jsonLines(),
  properties: { isRight: always(({ nodes }) => nodes.every(({ state }) => (state?.apart ?? 0) < 60)) },
})
`

const made = () => {
  const { directory, remove } = copyOfFixtures({
    'ticker.js': ticker,
    'ticker.config.ts': config,
    'churn.txt': '1200ms clock a +1h\n3s clock a -5min\n',
  })
  onTestFinished(remove)
  return directory
}

test('a script lets a wall clock jump, twice; a replay repeats it', { timeout: 120_000 }, async () => {
  const directory = made()
  const run = () => lastnail(directory, 'emulate', 'ticker.config.ts', '--churn', 'churn.txt', '--for', '5s', '--json')
  const [one, other] = [JSON.parse((await run()).stdout), JSON.parse((await run()).stdout)]
  expect(one).toMatchObject({ verdict: 'violated', property: 'isRight', hash: other.hash })
  const { steps } = readTrace(join(directory, one.trace))
  const jumps = steps.filter(({ choice }) => choice?.kind === 'clock')
  expect(jumps.map(({ atMs, choice }) => [atMs, choice?.label])).toEqual([
    [1200, 'clock a +1h'],
    [3000, 'clock a -5min'],
  ])
  const seen = (node: string) => [
    ...new Set(
      steps
        .flatMap(({ states }) => states)
        .flatMap(each => (each.node === node && each.state ? JSON.stringify(each.state) : [])),
    ),
  ]
  expect(seen('a')).toEqual(['{"apart":0}', '{"apart":60}', '{"apart":55}'])
  expect(seen('b')).toEqual(['{"apart":0}'])
  expect(await lastnail(directory, 'replay', one.trace)).toMatchObject({ code: 1 })
})

test('told at the pace real, a wall clock jumps', { timeout: 120_000 }, async () => {
  const directory = made()
  const run = start(directory, ['emulate', 'ticker.config.ts', '--pace', 'real', '--for', '400h', '--json'])
  onTestFinished(async () => {
    run.kill('SIGKILL')
    await run
  })
  const { control } = await controlOf(run)
  while ((await control.list()).elapsedMs < 1000) await sleep(50)
  await control.clock('a', 90 * 60_000)
  await sleep(2000)
  run.kill('SIGINT')
  expect(JSON.parse(String((await run).stdout))).toMatchObject({ property: 'isRight' })
})
