import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

/** Takes each read for a message. */
const reader = `
let seen = []
require('net').createServer(socket => {
  socket.on('data', data => console.log(JSON.stringify({ seen: (seen = [...seen, String(data)]) })))
}).listen(7000)
`

const writer = `
const socket = require('net').connect(7000, process.argv[2])
setInterval(() => socket.write('message'), 1000)
`

const config = `
import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'parts',
  nodes: {
    reader: { command: ['node', 'reader.js'], listens: 7000 },
    writer: { command: ['node', 'writer.js', '{{reader.address}}'], after: ['reader'] },
  },
  state: jsonLines(),
  properties: { isWhole: always(s => (s.node('reader').state?.seen ?? []).every(each => each === 'message')) },
})
`

const made = (churn = '') => {
  const files = { 'reader.js': reader, 'writer.js': writer, 'parts.config.ts': config, 'churn.txt': churn }
  const { directory, remove } = copyOfFixtures(files)
  onTestFinished(remove)
  return directory
}

test('a script lets a message arrive in two parts, the rest a way later; a replay repeats it', {
  timeout: 120_000,
}, async () => {
  const directory = made('2500ms split reader at half\n4500ms split reader at last\n')
  const run = () => lastnail(directory, 'emulate', 'parts.config.ts', '--churn', 'churn.txt', '--for', '7s', '--json')
  const [one, other] = [JSON.parse((await run()).stdout), JSON.parse((await run()).stdout)]
  expect(one).toMatchObject({ verdict: 'violated', property: 'isWhole', hash: other.hash })
  const { steps } = readTrace(join(directory, one.trace))
  const faults = steps.flatMap(({ choice }) => (choice?.kind === 'split' ? [[choice.label, choice.node]] : []))
  expect(faults).toEqual([
    ['split reader at half', 'reader'],
    ['split reader at last', 'reader'],
  ])
  const seen = steps.flatMap(({ states }) => states).flatMap(({ state }) => (state ? [state] : []))
  const parts = ['message', 'mes', 'sage', 'message', 'messag', 'e', 'message']
  expect((seen.at(-1) as { seen: readonly string[] }).seen.join(' ')).toContain(parts.join(' '))
  expect(await lastnail(directory, 'replay', one.trace)).toMatchObject({ code: 1 })
})

test('a script that says it in another way is refused with what is expected', async () => {
  const run = lastnail(made('1s split reader in two\n'), 'emulate', 'parts.config.ts', '--churn', 'churn.txt')
  expect(await run).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('expected where the next message is split'),
  })
})

test('told at the pace real, the next message arrives in two parts', { timeout: 120_000 }, async () => {
  const run = start(made(), ['emulate', 'parts.config.ts', '--pace', 'real', '--for', '400h', '--json'])
  onTestFinished(async () => {
    run.kill('SIGKILL')
    await run
  })
  const { control } = await controlOf(run)
  await control.split('reader', 'at first')
  await sleep(2500)
  run.kill('SIGINT')
  expect(JSON.parse(String((await run).stdout))).toMatchObject({ property: 'isWhole' })
})
