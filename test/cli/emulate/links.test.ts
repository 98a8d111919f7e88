import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, here as lastnail } from '../lastnail.ts'

const mbit = 1e6
const client = (id: string) => ({ id, role: 'client' })
/** Three machines around a router; that of `r` has a narrow link. */
const star = {
  nodes: [{ id: 'hub', role: 'transit' }, client('r'), client('a'), client('b')],
  links: [
    { from: 'hub', to: 'r', class: 'client-stub', delayMs: 5, bandwidth: mbit, queue: { packets: 50 } },
    { from: 'hub', to: 'a', class: 'client-stub', delayMs: 10, bandwidth: 10 * mbit },
    { from: 'hub', to: 'b', class: 'client-stub', delayMs: 10, bandwidth: 10 * mbit },
  ],
}
const streams = `
import { defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'links',
  nodes: {
    r: { command: ['node', 'stream.cjs', 'receive'] },
    a: { command: ['node', 'stream.cjs', 'send', '{{r.address}}', 'xy'] },
    b: { command: ['node', 'stream.cjs', 'send', '{{r.address}}', 'z'] },
  },
  state: jsonLines('stdout'),
  emulation: { topology: 'star.json' },
})
`

/** Two routers with a narrow link between; one pair of machines after another streams over it. */
const dumbbell = {
  nodes: [{ id: 'left', role: 'transit' }, { id: 'right', role: 'transit' }, ...['a', 'b', 'r', 'q'].map(client)],
  links: [
    { from: 'left', to: 'right', class: 'transit-transit', delayMs: 5, bandwidth: mbit, queue: { packets: 50 } },
    ...['a', 'b'].map(to => ({ from: 'left', to, class: 'client-stub', delayMs: 1, bandwidth: 10 * mbit })),
    ...['r', 'q'].map(to => ({ from: 'right', to, class: 'client-stub', delayMs: 1, bandwidth: 10 * mbit })),
  ],
}
const pairs = (hops: string) => `
import { defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'links',
  nodes: {
    r: { command: ['node', 'stream.cjs', 'receive'] },
    q: { command: ['node', 'stream.cjs', 'receive'] },
    a: { command: ['node', 'stream.cjs', 'send', '{{r.address}}', 'x'] },
    b: { command: ['node', 'stream.cjs', 'send', '{{q.address}}', 'y'] },
  },
  state: jsonLines('stdout'),
  emulation: { topology: 'dumbbell.json', hops: '${hops}' },
})
`

/** Bits a second that came of each stream, by its name. */
const ratesAt = async (...args: readonly string[]) => (await run(streams, ...args)).rates

const run = async (config: string, ...args: readonly string[]) => {
  const { directory, remove } = copyOfFixtures({
    'links.config.ts': config,
    'star.json': JSON.stringify(star),
    'dumbbell.json': JSON.stringify(dumbbell),
  })
  onTestFinished(remove)
  const { code, stdout, stderr } = await lastnail(directory, 'emulate', 'links.config.ts', ...args, '--json')
  expect(stderr).not.toMatch(/\n\s+at /)
  expect(code).toBe(0)
  const { trace, virtualSeconds, notes } = JSON.parse(stdout)
  const received: Record<string, number> = {}
  for (const { states } of readTrace(join(directory, trace)).steps)
    for (const { state } of states) Object.assign(received, state)
  return { rates: Object.values(received).map(bytes => (bytes * 8) / virtualSeconds), notes: notes as string[] }
}

test('three streams share the link of the machine that receives them, whose they are: a third each', async () => {
  const rates = await ratesAt('--for', '60s')
  expect(rates).toHaveLength(3)
  for (const rate of rates) {
    expect(rate).toBeGreaterThan(0.27 * mbit)
    expect(rate).toBeLessThan(0.39 * mbit)
  }
})

test('so they do in real time, however that is kept', { timeout: 60_000 }, async () => {
  const both = await Promise.all(['real', 'native'].map(pace => ratesAt('--pace', pace, '--for', '7s')))
  for (const rates of both) {
    // Not each the whole. How they share it is asked in virtual time: on a busy machine one of them may begin late.
    expect(rates.reduce((sum, rate) => sum + rate)).toBeLessThan(1.05 * mbit)
    expect(rates.reduce((sum, rate) => sum + rate)).toBeGreaterThan(0.4 * mbit)
  }
})

test("pairs share a link between routers where hops: 'each' says so; else they do not, which is said", async () => {
  const each = await run(pairs('each'), '--for', '60s')
  for (const rate of each.rates) {
    expect(rate).toBeGreaterThan(0.4 * mbit)
    expect(rate).toBeLessThan(0.6 * mbit)
  }
  expect(each.notes).toEqual([])
  const collapsed = await run(pairs('collapsed'), '--for', '60s')
  for (const rate of collapsed.rates) expect(rate).toBeGreaterThan(0.85 * mbit)
  expect(collapsed.notes).toEqual([
    expect.stringMatching(/^only hosts' own links are shared: on 2 ways of links within/),
  ])
})

/** Asks for the way to an address as traceroute does, by UDP and by ICMP; prints who answered, in order, and after how long. */
const trace = `
import json, select, socket, struct, sys, time
to = sys.argv[1]
def by_udp(time_to_live):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_IP, socket.IP_TTL, time_to_live)
        s.setsockopt(socket.SOL_IP, 11, 1) # IP_RECVERR
        s.connect((to, 33434))
        s.send(b'?')
        errors = select.poll()
        errors.register(s, 0)
        errors.poll()
        (_, _, error), = s.recvmsg(64, 256, socket.MSG_ERRQUEUE)[1]
        return socket.inet_ntoa(error[20:24]), error[5] == 11
def by_icmp(time_to_live):
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as s:
        s.setsockopt(socket.SOL_IP, socket.IP_TTL, time_to_live)
        s.sendto(struct.pack('!BBHHH', 8, 0, 0xf7ff, 0, 0), (to, 0))
        answer, (who, _) = s.recvfrom(100)
        return who, answer[20] == 11
for ask in by_udp, by_icmp:
    way, goes_on = [], True
    while goes_on:
        begun = time.time()
        who, goes_on = ask(len(way) + 1)
        way.append([who, round(1000 * (time.time() - begun))])
    print(json.dumps(way), flush=True)
time.sleep(1000)
`
const traced = (pace: string) => `
import { defineSystem } from 'lastnail'
export default defineSystem({
  name: 'way',
  nodes: {
    r: { command: ['sleep', 'infinity'] },
    q: { command: ['sleep', 'infinity'] },
    a: { command: ['python3', 'trace.py', '{{r.address}}'] },
    b: { command: ['sleep', 'infinity'] },
  },
  emulation: { topology: 'dumbbell.json', hops: 'each', pace: '${pace}', for: '5s' },
})
`

test.each(['native', 'real', 'virtual'])(
  "routers of hops: 'each' answer packets whose time to live is over, as traceroute asks them to, at the pace %s",
  async pace => {
    const files = { 'way.config.ts': traced(pace), 'dumbbell.json': JSON.stringify(dumbbell), 'trace.py': trace }
    const { directory, remove } = copyOfFixtures(files)
    onTestFinished(remove)
    const { code, stdout } = await lastnail(directory, 'emulate', 'way.config.ts', '--json')
    expect(code).toBe(0)
    const { trace: path } = JSON.parse(stdout)
    const output = readFileSync(join(directory, dirname(path), 'output/a.stdout'), 'utf8')
    const ways: [who: string, ms: number][][] = output
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(ways).toHaveLength(2)
    for (const way of ways) {
      expect(way.map(([who]) => who)).toEqual(['100.64.0.0', '100.64.0.1', '10.77.0.2'])
      // The links take 1, 5 and 1 ms in each direction, and a little longer for packets that are sent at 1 Mbit/s.
      for (const [index, ms] of [2, 12, 14].entries()) expect(way[index]![1]).toBeGreaterThanOrEqual(ms)
      if (pace === 'virtual') expect(way.map(([, ms]) => ms)).toEqual([2, 13, 15])
    }
    if (pace !== 'native') expect((await lastnail(directory, 'replay', path)).code).toBe(0)
  },
)
