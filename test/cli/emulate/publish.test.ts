import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail, start } from '../lastnail.ts'

const hasRedis = (await execa('redis-cli', ['--version'], { reject: false })).exitCode === 0

const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map(server => once(server, 'listening')))
  const ports = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => once(server.close(), 'close')))
  return ports
}

/** A service that keeps what it is sent, and, where there is one, a Redis. */
const shop = (web: number, redis: number) => `
import { always, defineSystem, jsonLines } from 'lastnail'
const web = \`
  const all = []
  require('node:http').createServer(async (request, response) => {
    for await (const part of request) all.push(String(part))
    console.log(JSON.stringify({ length: all.join('').length, at: Date.now() }))
    response.end(all.join('').length + ' ' + request.url)
  }).listen(80)\`
export default defineSystem({
  name: 'shop',
  nodes: {
    web: { command: ['node', '-e', web] },
    ${hasRedis ? "store: { command: ['redis-server', '--port', '6379', '--save', '', '--protected-mode', 'no'] }," : ''}
  },
  state: jsonLines('stdout'),
  properties: { small: always(s => (s.node('web').state?.length ?? 0) < 1_000_000) },
  publish: { ${web}: 'web:80'${hasRedis ? `, ${redis}: 'store:6379'` : ''} },
  emulation: { pace: 'real', for: '1h', look: '50ms' },
})
`

test('real clients talk to nodes; what they sent is recorded, and is sent again without them', {
  timeout: 180_000,
}, async () => {
  const [web, redis] = (await freePorts(2)) as [number, number]
  const { directory, remove } = copyOfFixtures({ 'shop.config.ts': shop(web, redis) })
  onTestFinished(remove)
  const run = start(directory, ['emulate', 'shop.config.ts', '--json'])
  onTestFinished(() => void run.kill('SIGKILL'))
  let said = ''
  for await (const text of run.stderr!) if ((said += text).includes(`127.0.0.1:${web} is web:80`)) break

  const curl = async (...args: readonly string[]) =>
    (await execa('curl', ['-sS', '--max-time', '60', ...args], { reject: false })).stdout
  const url = `http://127.0.0.1:${web}`
  expect(await curl('--data-binary', 'x'.repeat(100), `${url}/first`)).toBe('100 /first')
  // Two on one connection.
  expect(await curl(`${url}/a`, `${url}/b`)).toBe('100 /a100 /b')
  if (hasRedis) {
    const cli = (args: readonly string[], input = '') => execa('redis-cli', ['-p', String(redis), ...args], { input })
    const large = 'abcdefghij'.repeat(30_000)
    expect((await cli(['-x', 'set', 'large'], large)).stdout).toBe('OK')
    expect((await cli(['--raw', 'get', 'large'])).stdout).toBe(large)
  }
  const taken = await lastnail(directory, 'emulate', 'shop.config.ts')
  // Numbers are the first keys of an object, in their order.
  const first = hasRedis ? Math.min(web, redis) : web
  expect(taken).toMatchObject({
    ...{ code: 64, stderr: `lastnail: publish.${first}: cannot listen on 127.0.0.1:${first}: it is taken` },
  })
  // It is looked at after all that was sent.
  await sleep(500)
  run.kill('SIGINT')
  const summary = JSON.parse(String((await run).stdout))
  expect(summary).toMatchObject({ verdict: 'undetermined', property: null, pace: 'real', faults: 0 })
  expect(summary.message).toMatch(/^interrupted after [\d.]+ m?s of [\d.]+ s; until then every property held /)

  const { steps } = readTrace(join(directory, summary.trace))
  const inputs = steps.flatMap(({ input }) => (input ? [input as { does: string }] : []))
  expect(inputs.filter(({ does }) => does === 'connect')).toHaveLength(hasRedis ? 4 : 2)
  expect(await lastnail(directory, 'replay', summary.trace)).toMatchObject({
    ...{ code: 0, stdout: expect.stringContaining('all as recorded') },
  })
  expect(await lastnail(directory, 'verify', summary.trace)).toMatchObject({ code: 0 })
})

test('a port of no node is refused', async () => {
  const config = shop(8080, 6379).replaceAll(/'web:80'/g, "'wab:80'")
  const { directory, remove } = copyOfFixtures({ 'shop.config.ts': config })
  onTestFinished(remove)
  expect(await lastnail(directory, 'emulate', 'shop.config.ts')).toMatchObject({
    ...{
      code: 64,
      stderr: expect.stringMatching(/^lastnail: publish.8080: there is no node wab; did you mean "web"\?$/),
    },
  })
})
