import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

const programs = {
  'number.cjs': `
    const { createSocket } = require('node:dgram')
    const { connect } = require('node:net')
    const socket = createSocket('udp4')
    let number = 0
    setInterval(() => {
      number += 1
      if (process.env.BY === 'udp') socket.send(String(number), 7000, process.env.TO)
      else connect(7000, process.env.TO, function () { this.end(String(number)) }).on('error', () => {})
    }, 200)
  `,
  'take.cjs': `
    const { createSocket } = require('node:dgram')
    const { createServer } = require('node:net')
    const take = data => console.log(JSON.stringify({ number: Number(data) }))
    createSocket('udp4').on('message', take).bind(7000)
    createServer(socket => socket.on('data', take).on('error', () => {})).listen(7000)
  `,
  'tick.cjs': `
    let number = 0
    setInterval(() => console.log(JSON.stringify({ number: ++number })), 200)
  `,
}

const never3 = (by: string, faults = '{}') => `
import { always, defineSystem, jsonLines } from 'lastnail'
const BY = '${by}'
export default defineSystem({
  name: 'numbers',
  nodes: BY === 'timer'
    ? { alone: { command: ['node', 'tick.cjs'] } }
    : {
        giver: { command: ['node', 'number.cjs'], env: { TO: '{{taker.address}}', BY } },
        taker: { command: ['node', 'take.cjs'], listens: 7000 },
      },
  state: jsonLines('stdout'),
  properties: { never3: always(s => s.nodes.every(({ state }) => state?.number !== 3)) },
  faults: ${faults},
  emulation: { for: '2s' },
})
`

const emulate = (by: string, ...args: readonly string[]) => emulateConfig(never3(by), args)

const emulateConfig = async (config: string, args: readonly string[]) => {
  const { directory, remove } = copyOfFixtures({ ...programs, 'never3.config.ts': config })
  onTestFinished(remove)
  const asked = ['emulate', 'never3.config.ts', '--json', ...args]
  const { code, stdout, stderr } = await lastnail(directory, ...asked)
  const said = stderr.split('\n').filter(line => line.includes('never3 '))
  return { code, said, directory, ...(stdout !== '' && { summary: JSON.parse(stdout) }), stderr }
}

test.each([
  ['udp', /^giver→taker #3 1 byte :7000 "3" is lost$/],
  ['tcp', /^the connection of giver→taker #\d+ 1 byte :7000 "3" is reset in its place$/],
])('a message by %s that would violate a property does not arrive, and the run repeats', async (by, done) => {
  expect(await emulate(by)).toMatchObject({ code: 1, summary: { property: 'never3', immediate: 0, missed: 0 } })
  const { code, summary, said, directory } = await emulate(by, '--steer', 'check')
  expect({ code, summary }).toMatchObject({
    code: 0,
    summary: { verdict: 'held', predicted: 0, steered: 0, immediate: 1, missed: 0, inconsistent: 0 },
  })
  expect(said).toHaveLength(1)
  expect(said[0]).toMatch(/^lastnail: at 0\.\d+ s, never3 would not hold after giver→taker #\d+ 1 byte :7000 "3": /)
  expect(said[0]!.split('"3": ')[1]).toMatch(done)
  expect((await emulate(by, '--steer')).summary.hash).toBe(summary.hash)
  expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
})

test('a timer is put off three times in a row, and then missed', async () => {
  const { code, summary, said } = await emulate('timer', '--for', '5s', '--steer', 'check')
  expect({ code, summary }).toMatchObject({ code: 1, summary: { property: 'never3', immediate: 3, missed: 1 } })
  expect(said).toEqual([
    'lastnail: at 0.6 s, never3 would not hold after alone timer +200ms: alone stands still for 1000 ms',
    'lastnail: at 1.6 s, never3 would not hold after alone timer +200ms: alone stands still for 1000 ms',
    'lastnail: at 2.6 s, never3 would not hold after alone timer +200ms: alone stands still for 1000 ms',
    'lastnail: at 3.6 s, never3 does not hold after alone timer +200ms: missed',
  ])
})

test('a timer that cannot be put off any longer ends its process, which starts again, if a node may be reset', async () => {
  const config = never3('timer', '{ reset: 1 }')
  const { code, summary, said } = await emulateConfig(config, ['--for', '4s', '--steer', 'check'])
  expect({ code, summary }).toMatchObject({ code: 0, summary: { verdict: 'held', immediate: 4, missed: 0 } })
  expect(said.at(-1)).toBe(
    'lastnail: at 3.6 s, never3 would not hold after alone timer +200ms: alone is killed and starts again',
  )
})

test('while a timer is put off, what comes to its node enters it first, and may change what the timer does', async () => {
  const by = `
import { always, defineSystem, jsonLines } from 'lastnail'
const bomb = "let left = 2; setTimeout(() => console.log(JSON.stringify({ left: --left })), 600);" +
  "require('node:dgram').createSocket('udp4').on('message', () => { left = 9 }).bind(7000)"
const friend = "setTimeout(() => require('node:dgram').createSocket('udp4').send('9', 7000, process.env.TO), 700)"
export default defineSystem({
  name: 'put-off',
  nodes: {
    bomb: { command: ['node', '-e', bomb] },
    friend: { command: ['node', '-e', friend], env: { TO: '{{bomb.address}}' } },
  },
  state: jsonLines('stdout'),
  properties: { never3: always(s => s.node('bomb').state?.left !== 1) },
  emulation: { for: '2s' },
})
`
  expect(await emulateConfig(by, [])).toMatchObject({ code: 1 })
  const { code, summary, directory } = await emulateConfig(by, ['--steer', 'check'])
  expect({ code, summary }).toMatchObject({ code: 0, summary: { verdict: 'held', immediate: 1, missed: 0 } })
  expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
})

test('at the pace real too, and the trace of that replays', async () => {
  const { code, summary, directory } = await emulate('udp', '--pace', 'real', '--steer')
  expect({ code, summary }).toMatchObject({ code: 0, summary: { immediate: 1, missed: 0 } })
  expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
})

test('at the pace native no step is taken back', async () => {
  expect(await emulate('udp', '--pace', 'native', '--steer')).toMatchObject({
    code: 64,
    stderr: 'lastnail: --steer and --guard take steps back, which at the pace native is not possible',
  })
})
