import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'

/** Passes each number on over a connection of its own, and answers what became of it. */
const web = `
  const { connect, createServer } = require('node:net')
  createServer(visitor => visitor.on('data', data => {
    const number = String(data).trim()
    const store = connect(7000, process.env.STORE, () => store.write(number))
    store.on('data', () => store.end())
    store.on('error', () => visitor.write(number + ' lost\\n'))
    store.on('end', () => visitor.write(number + ' stored\\n'))
  })).listen(8000)
`
const store = `
  require('node:net').createServer(socket => socket.on('data', data => {
    console.log(JSON.stringify({ number: Number(data) }))
    socket.write('ok')
  }).on('error', () => {})).listen(7000)
`
const numbers = (port: number) => `
import { always, defineSystem, eventually, jsonLines } from 'lastnail'
const give = number => async ({ web }) => {
  const socket = web.tcp(8000)
  socket.write(number)
  await new Promise(resolve => socket.once('data', resolve))
  socket.destroy()
}
export default defineSystem({
  name: 'numbers',
  nodes: {
    web: { command: ['node', 'web.cjs'], env: { STORE: '{{store.address}}' }, listens: 8000 },
    store: { command: ['node', 'store.cjs'], listens: 7000 },
  },
  state: jsonLines('stdout'),
  clients: process.env.GUARDED ? {} : { two: give('2'), three: give('3') },
  publish: { ${port}: 'web:8000' },
  properties: {
    never3: always(s => s.node('store').state?.number !== 3),
    never5: always(s => s.node('store').state?.number !== 5),
    often: eventually(s => s.node('store').state?.number === 7),
  },
})
`

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

test('a real client is served, and the known bug of a trace is kept from happening', { timeout: 120_000 }, async () => {
  const port = await freePort()
  const { directory, remove } = copyOfFixtures({ 'web.cjs': web, 'store.cjs': store, 'n.config.ts': numbers(port) })
  onTestFinished(remove)
  const found = await lastnail(
    directory,
    'check',
    'n.config.ts',
    '--property',
    'never3',
    '--executions',
    '60',
    '--json',
  )
  const { trace, verdict } = JSON.parse(found.stdout)
  expect(verdict).toBe('violated')

  const args = ['guard', 'n.config.ts', trace, '--json', '--out', 'guarded']
  const running = start(directory, args, { env: { GUARDED: '1' } })
  onTestFinished(() => void running.kill('SIGKILL'))
  const said: string[] = []
  running.stderr!.setEncoding('utf8').on('data', text => said.push(text))
  await expect.poll(() => said.join(''), { timeout: 60_000 }).toContain(`127.0.0.1:${port} is web:8000`)
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  for (const [number, answer] of [
    ['2', '2 stored\n'],
    ['3', '3 lost\n'],
    ['4', '4 stored\n'],
    ['3', '3 lost\n'],
  ]) {
    socket.write(number!)
    expect(String(await once(socket, 'data'))).toBe(answer)
  }
  const [, origin, token] = /control at (\S+) with token (\S+)/.exec(said.join(''))!
  const metrics = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  expect(await metrics.text()).toContain('lastnail_steering_total{what="immediate"} 2')
  running.kill('SIGINT')
  const { stdout, exitCode } = await running
  expect(JSON.parse(String(stdout).trim().split('\n').at(-1)!)).toMatchObject({ immediate: 2, missed: 0 })
  expect(exitCode).not.toBe(1)
  expect(
    said.join('').match(/never3 would not hold after web→store #\d+ 1 byte :7000 "3": the connection/g),
  ).toHaveLength(2)

  const [run] = readdirSync(join(directory, 'guarded/numbers'))
  const replayed = await lastnail(directory, 'replay', join('guarded/numbers', run!, 'run.trace'))
  expect(replayed).toMatchObject({ code: 0 })
})

/** Adds what each client sends; more than ten must not be. */
const sum = `
  let sum = 0
  require('node:net').createServer(socket => socket.on('data', data => {
    sum += Number(data)
    if (sum > 10 && process.env.FAILS) process.exit(1)
    console.log(JSON.stringify({ sum }))
    socket.end(String(sum))
  }).on('error', () => {})).listen(8000)
`
const sums = (port: number, fails: string) => `
import { always, defineSystem, jsonLines } from 'lastnail'
const add = number => async ({ sum }) => {
  const socket = sum.tcp(8000)
  socket.write(number)
  await new Promise(resolve => socket.once('data', resolve))
  socket.destroy()
}
export default defineSystem({
  name: 'sums',
  nodes: { sum: { command: ['node', 'sum.cjs'], env: { FAILS: '${fails}' }, listens: 8000 } },
  state: jsonLines('stdout'),
  clients: { six: add('6'), seven: add('7') },
  publish: { ${port}: 'sum:8000' },
  properties: { atMostTen: always(s => (s.node('sum').state?.sum ?? 0) <= 10) },
})
`

test.each([
  ['violate a property', '', 'atMostTen would not hold'],
  ['let a program fail', 'yes', 'a program would fail'],
])(
  'what a real client sends is refused where it would %s, as a call did in the trace',
  {
    timeout: 120_000,
  },
  async (_, fails, what) => {
    const port = await freePort()
    const { directory, remove } = copyOfFixtures({ 'sum.cjs': sum, 'n.config.ts': sums(port, fails) })
    onTestFinished(remove)
    const found = await lastnail(directory, 'check', 'n.config.ts', '--executions', '5', '--json')
    const { trace, verdict } = JSON.parse(found.stdout)
    expect(verdict).toBe('violated')

    const running = start(directory, ['guard', 'n.config.ts', trace, '--json', '--out', 'guarded'])
    onTestFinished(() => void running.kill('SIGKILL'))
    let said = ''
    running.stderr!.setEncoding('utf8').on('data', text => (said += text))
    await expect.poll(() => said, { timeout: 60_000 }).toContain(`127.0.0.1:${port} is sum:8000`)
    const answerTo = async (number: string): Promise<string> => {
      const socket = connect(port, '127.0.0.1')
      socket.write(number)
      return new Promise(resolve => {
        socket.on('data', data => resolve(String(data))).on('error', error => resolve(error.message))
      })
    }
    const answers: string[] = []
    for (const number of ['6', '7', '3', '2', '1']) answers.push(await answerTo(number))
    expect(answers).toEqual(['6', 'read ECONNRESET', '9', 'read ECONNRESET', '10'])
    running.kill('SIGINT')
    const { stdout } = await running
    const summary = JSON.parse(String(stdout).trim().split('\n').at(-1)!)
    expect(summary).toMatchObject({ immediate: 2, missed: 0 })
    expect(said).toContain(
      `${what} after outside 2 sends 1 bytes to sum: the connection of outside 2 to sum is reset in its place\n`,
    )
    expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
  },
)

test('what is no trace of a violated always property cannot be guarded', async () => {
  const { directory, remove } = copyOfFixtures({ 'web.cjs': web, 'store.cjs': store, 'lastnail.config.ts': numbers(1) })
  onTestFinished(remove)
  await lastnail(directory, 'try', 'lastnail.config.ts', 'client two', '--out', 'held.trace')
  expect(readFileSync(join(directory, 'held.trace')).length).toBeGreaterThan(0)
  const refused = { code: 64, stderr: 'lastnail: held.trace: expected the trace of a violated property, or of a crash' }
  expect(await lastnail(directory, 'guard', 'lastnail.config.ts', 'held.trace')).toMatchObject(refused)
  // The configuration may come last, and emulate finds it by itself.
  expect(await lastnail(directory, 'guard', 'held.trace', 'lastnail.config.ts')).toMatchObject(refused)
  expect(await lastnail(directory, 'emulate', '--guard', 'held.trace')).toMatchObject(refused)
})
