/** At the paces of time, a program that sends, or looks at its clock, for as long as it likes: its clock goes on meanwhile. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { has } from '../../has.ts'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

/** 10 Mbit/s and 50 ms each way, with a queue of 50 packets. */
const line = {
  nodes: ['s1', 's2'].map((label, id) => ({
    id: `${id}`,
    role: 'stub',
    label,
    access: { delayMs: 0, bandwidth: 1e9 },
  })),
  links: [{ from: '0', to: '1', delayMs: 50, bandwidth: 10e6, queue: { packets: 50 }, class: 'stub-stub' }],
}

const configOf = (a: readonly string[], b: readonly string[], seconds: number) => `
import { defineSystem } from 'lastnail'
export default defineSystem({
  name: 'sender',
  clocks: { start: '2026-01-01T00:00:00Z' },
  nodes: {
    a: { command: ${JSON.stringify(a)}, exits: 'allowed' },
    b: { command: ${JSON.stringify(b)}, exits: 'allowed' },
  },
  emulation: { topology: 'line.json', hops: 'each', place: { a: 'router 0', b: 'router 1' }, for: '${seconds}s' },
})`

interface Programs {
  readonly a: readonly string[]
  readonly b: readonly string[]
  readonly seconds: number
  readonly files?: Readonly<Record<string, string>>
  /** Whether what they print repeats. */
  readonly repeats?: boolean
}

/** Runs both, and gives what each printed. */
const printed = async ({ a, b, seconds, files = {}, repeats = true }: Programs) => {
  const { directory, remove } = copyOfFixtures({
    'sender.config.ts': configOf(a, b, seconds),
    'line.json': JSON.stringify(line),
    ...files,
  })
  onTestFinished(remove)
  const run = () => lastnail(directory, 'emulate', 'sender.config.ts', '--json')
  const first = await run()
  const summary = JSON.parse(first.stdout)
  expect(summary).toMatchObject({ verdict: 'held' })
  const output = (node: string) =>
    readFileSync(join(directory, '.lastnail/sender/latest/output', `${node}.stdout`), 'utf8')
  const both = { a: output('a'), b: output('b') }
  if (!repeats) return both
  expect(JSON.parse((await run()).stdout).hash).toBe(summary.hash)
  const replayed = await lastnail(directory, 'replay', '.lastnail/sender/latest/run.trace')
  expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('all as recorded') })
  return both
}

const receive = `
import socket, sys, time
connection, _ = socket.create_server(('', 7000)).accept()
begun = time.time()
count = 0
while data := connection.recv(65536): count += len(data)
print(count, round(time.time() - begun, 3), flush=True)
time.sleep(1000)
`

const send = `
import socket, sys, time
time.sleep(0.5)
connection = socket.create_connection((sys.argv[1], 7000))
begun = time.time()
count = 0
while time.time() - begun < 5: count += connection.send(b'x' * 65536)
print(count, round(time.time() - begun, 3), flush=True)
connection.close()
time.sleep(1000)
`

test.skipIf(!has('python3'))('a blocking sender waits for room, and its clock moves (needs python3)', async () => {
  const files = { 'receive.py': receive, 'send.py': send }
  const { a, b } = await printed({
    a: ['python3', 'receive.py'],
    b: ['python3', 'send.py', '{{a.address}}'],
    seconds: 15,
    files,
  })
  const [sent, seconds] = b.split(' ').map(Number) as [number, number]
  const [received, receiving] = a.split(' ').map(Number) as [number, number]
  expect(received).toBe(sent)
  expect(seconds).toBeGreaterThan(5)
  expect(seconds).toBeLessThan(6)
  // It ends with up to 1.5 MB in its buffer, which take another second.
  expect(sent / seconds).toBeGreaterThan(1.0e6)
  expect(sent / seconds).toBeLessThan(1.4e6)
  expect((received * 8) / receiving).toBeGreaterThan(8.5e6)
  expect((received * 8) / receiving).toBeLessThan(9.7e6)
})

test('who only looks at its clock until a time is over sees it come, and others go on meanwhile', async () => {
  const until = `
const begun = Date.now()
setTimeout(() => console.log('beside', Date.now() - begun), 1500)
while (Date.now() - begun < 1000);
console.log('until', Date.now() - begun)
setInterval(() => {}, 1e6)`
  const beside = `setInterval(() => console.log(performance.now().toFixed(0)), 250)`
  const files = { 'until.js': until, 'beside.js': beside }
  const { a, b } = await printed({ a: ['node', 'until.js'], b: ['node', 'beside.js'], seconds: 3, files })
  const [, waited] = a.match(/^until (\d+)\nbeside 1500\n$/)!
  expect(Number(waited)).toBeGreaterThanOrEqual(1000)
  expect(Number(waited)).toBeLessThan(1200)
  expect(b.trim().split('\n').length).toBeGreaterThanOrEqual(10)
})

interface Iperf {
  readonly end: Readonly<Record<'sum_sent' | 'sum_received', { readonly bytes: number; readonly seconds: number }>>
}

test.skipIf(!has('iperf3'))('iperf3 ends when it should, with what the way carries (needs iperf3)', async () => {
  const measured = async (...how: readonly string[]) => {
    const client = ['sh', '-c', `sleep 1; exec iperf3 -J -c {{a.address}} ${how.join(' ')}`]
    // It prints the round trips that its kernel measured in real time.
    const { a, b } = await printed({ a: ['iperf3', '-s', '-J', '-1'], b: client, seconds: 9, repeats: false })
    return { server: JSON.parse(a) as Iperf, client: JSON.parse(b) as Iperf }
  }
  const tcp = await measured('-t', '5')
  expect(tcp.client.end.sum_sent.seconds).toBeCloseTo(5, 1)
  expect(tcp.client.end.sum_sent.bytes).toBeGreaterThan(5.5e6)
  expect(tcp.client.end.sum_sent.bytes).toBeLessThan(7.5e6)
  expect(tcp.server.end.sum_received.bytes).toBeGreaterThan(5e6)
  expect(tcp.server.end.sum_received.bytes).toBeLessThan(6.1e6)
  const udp = await measured('-u', '-b', '5M', '-t', '5', '-l', '1448')
  expect(udp.client.end.sum_sent.seconds).toBeCloseTo(5, 1)
  expect(udp.server.end.sum_received.bytes).toBeGreaterThan(3.0e6)
  expect(udp.server.end.sum_received.bytes).toBeLessThan(3.2e6)
})
