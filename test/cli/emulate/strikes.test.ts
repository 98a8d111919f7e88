import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

/** Syncs and opens a file each second, and says what came of it. */
const writer = `
const { closeSync, fsyncSync, openSync } = require('node:fs')
const tried = what => { try { return what() } catch ({ code }) { return code } }
setInterval(() => {
  const file = openSync('log', 'a')
  const synced = tried(() => fsyncSync(file)) ?? 'yes'
  const opened = tried(() => closeSync(openSync('log', 'a'))) ?? 'yes'
  closeSync(file)
  console.log(JSON.stringify({ synced, opened }))
}, 1000)
`

const config = (faults: string) => `
import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'writer',
  nodes: { a: { command: ['node', 'writer.js'] } },
  state: jsonLines(),
  faults: ${faults},
  properties: { isWell: always(({ nodes }) => nodes.every(({ state }) => (state?.synced ?? 'yes') === 'yes')) },
})
`

const made = (faults: string, churn = '') => {
  const { directory, remove } = copyOfFixtures({
    'writer.js': writer,
    'writer.config.ts': config(faults),
    'churn.txt': churn,
  })
  onTestFinished(remove)
  return directory
}

test('a script lets a disk fail and a call get no descriptor, each once; a replay repeats it', {
  timeout: 120_000,
}, async () => {
  const directory = made('{}', '1500ms disk a fails at sync 1\n3500ms calls a no descriptor 2\n')
  const run = () => lastnail(directory, 'emulate', 'writer.config.ts', '--churn', 'churn.txt', '--for', '6s', '--json')
  const [one, other] = [JSON.parse((await run()).stdout), JSON.parse((await run()).stdout)]
  expect(one).toMatchObject({ verdict: 'violated', property: 'isWell', hash: other.hash })
  const { steps } = readTrace(join(directory, one.trace))
  const faults = steps.flatMap(({ choice }) => (['disk', 'calls'].includes(choice?.kind ?? '') ? [choice!.label] : []))
  expect(faults).toEqual(['disk a fails at sync 1', 'calls a no descriptor 2'])
  const seen = steps
    .flatMap(({ states }) => states)
    .flatMap(({ state }) => (state ? [Object.values(state as object).join()] : []))
  expect([...new Set(seen)].sort()).toEqual(['EIO,yes', 'yes,EMFILE', 'yes,yes'])
  expect(await lastnail(directory, 'replay', one.trace)).toMatchObject({ code: 1 })
})

test('a wrong word of a script, and the pace native, are refused with what is expected', async () => {
  const run = (churn: string, ...options: string[]) =>
    lastnail(made('{}', churn), 'emulate', 'writer.config.ts', '--churn', 'churn.txt', '--for', '1s', ...options)
  expect(await run('1s disk a fails at write 1\n')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('expected what happens to the disk, such as "fails at sync 1"'),
  })
  expect(await run('1s preempt a before call 1\n', '--pace', 'native')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('"preempt" is not there at the pace native'),
  })
})

test('told at the pace real, a disk fails where the run asked for that, and is refused where not', {
  timeout: 120_000,
}, async () => {
  const directory = made('{ disk: 1 }')
  const run = start(directory, ['emulate', 'writer.config.ts', '--pace', 'real', '--for', '400h', '--json'])
  onTestFinished(async () => {
    run.kill('SIGKILL')
    await run
  })
  const { control } = await controlOf(run)
  await expect(control.calls('a', 'short read 1')).rejects.toThrow('asks for that by faults: { calls: 1 }')
  await control.disk('a', 'fails at sync 1')
  await sleep(2500)
  run.kill('SIGINT')
  expect(JSON.parse(String((await run).stdout))).toMatchObject({ property: 'isWell' })
})
