import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { jsonLines } from '../../harness/config/config.ts'
import { CpuLimit } from '../../harness/hold/held/cpu-limit.ts'
import type { HeldNode } from '../../harness/hold/held/held-node.ts'
import { cpuNsOf } from '../../linux/cpu-time.ts'
import { clusterOf, labelsOf, stdoutOf, take } from './system.ts'

const echo = `
const [, , name, ...others] = process.argv
const socket = require('dgram').createSocket('udp4')
socket.on('message', (bytes, from) => console.log(JSON.stringify({ got: String(bytes) })))
socket.bind(4000)
setTimeout(() => { for (const other of others) socket.send(name, 4000, other) }, Math.floor(Math.random() * 100))
`

const pair = {
  nodes: {
    a: { command: ['node', 'echo.js', 'a', 'b'] },
    b: { command: ['node', 'echo.js', 'b', '{{a.address}}'] },
  },
  state: jsonLines('stdout'),
}

test('a message waits until a choice delivers it, is duplicated and dropped within its budget', async () => {
  const cluster = clusterOf({ ...pair, faults: { drop: 1, duplicate: 1 } }, { 'echo.js': echo })
  expect(await cluster.reset()).toEqual([])
  const timer = labelsOf(cluster).find(label => label.startsWith('a timer'))!
  await take(cluster, timer)
  const [message] = labelsOf(cluster).filter(label => label.startsWith('a→b #1'))
  expect(cluster.state().node('b').state).toBeUndefined()
  await take(cluster, `duplicate ${message}`)
  expect(labelsOf(cluster).filter(label => label.startsWith('duplicate'))).toEqual([])
  await take(cluster, message!)
  expect(cluster.state().node('b').state).toEqual({ got: 'a' })
  const copy = message!.replace('#1', '#2')
  await take(cluster, `drop ${copy}`)
  expect(labelsOf(cluster).filter(label => label.includes('a→b'))).toEqual([])
})

test('the same schedule gives the same labels, states and fingerprints', async () => {
  const cluster = clusterOf(pair, { 'echo.js': echo })
  const execution = async () => {
    await cluster.reset()
    const seen: unknown[] = []
    for (let step = 0; step < 4; step++) {
      seen.push(
        labelsOf(cluster),
        cluster.state().nodes.map(node => node.state),
        cluster.fingerprint(),
      )
      await cluster.execute(cluster.enabled()[0]!)
    }
    return seen
  }
  const first = await execution()
  expect(first.length).toBe(3 * 4)
  for (let again = 0; again < 4; again++) expect(await execution()).toEqual(first)
})

test('a process that ends of itself is a finding with its last output', async () => {
  const cluster = clusterOf({ nodes: { n: { command: ['node', '-e', 'console.error("no disk"); process.exit(3)'] } } })
  expect(await cluster.reset()).toMatchObject([
    { kind: 'crash', node: 'n', message: 'n ended with code 3; its last output: "no disk"' },
  ])
  expect(cluster.enabled()).toEqual([])
})

test.each([
  ['os.abort()', 6],
  ['import ctypes; ctypes.string_at(0)', 11],
  ['os.kill(os.getpid(), 15)', 15],
  ['signal.alarm(1); time.sleep(9)', 14],
  ['signal.signal(15, lambda *_: signal.signal(15, 0)); [os.kill(os.getpid(), 15) for _ in range(2)]', 15],
])('%s ends a process by signal %i, though it is the first of its pid namespace', async (program, signal) => {
  const command = ['python3', '-c', `import os, signal, time; time.sleep(1); ${program}`]
  const cluster = clusterOf({ nodes: { n: { command } } })
  expect(await cluster.reset()).toEqual([])
  const findings = []
  for (let next = cluster.enabled()[0]; next; next = cluster.enabled()[0])
    findings.push(...(await cluster.execute(next)).findings)
  expect(findings).toMatchObject([
    { kind: 'crash', node: 'n', message: `n was killed by signal ${signal}, and wrote nothing` },
  ])
})

test('a node that never becomes idle is a divergence, and the tool goes on', async () => {
  const cluster = clusterOf({
    nodes: { n: { command: ['node', '-e', 'console.log("up"); setTimeout(() => { for (;;) Math.random(); }, 10)'] } },
    stepLimit: 300,
  })
  await cluster.reset()
  const { findings } = await take(cluster, 'n timer +10ms')
  expect(findings).toHaveLength(1)
  expect(findings[0]).toMatchObject({ kind: 'divergence', node: 'n' })
  expect(findings[0]!.message).toMatch(/^n is still busy after \d+ ms of CPU time; its last output: "up"$/)
  expect(await cluster.reset()).toEqual([])
})

test('a node that never becomes idle computes no longer than its limit, nor while others are rewound', async () => {
  const spins = 'setTimeout(() => { for (let round = 0; ; round++); }, 10)'
  const cluster = clusterOf({
    nodes: {
      first: { command: ['node', '-e', 'setTimeout(() => {}, 1e9)'] },
      last: { command: ['node', '-e', spins] },
    },
    stepLimit: 2000,
  })
  await cluster.reset()
  cluster.setPatience(0.1)
  const before = cpuNsOf(cluster.debugging.pidOf('last'))!
  const { findings } = await take(cluster, 'last timer +10ms')
  expect(findings[0]!.message).toMatch(/^last is still busy after 2\d\d ms of CPU time/)
  await cluster.reset()
  expect(cpuNsOf(cluster.debugging.pidOf('last'))! - before).toBeLessThan(450e6)
})

test('a step that lasts until time is over ends then, without a finding, and the tool goes on', async () => {
  const spins = 'console.log("up"); setTimeout(() => { for (;;) Math.random(); }, 10)'
  const cluster = clusterOf({ nodes: { n: { command: ['node', '-e', spins] } }, stepLimit: 40_000 })
  await cluster.reset()
  const begun = performance.now()
  cluster.endBy(begun)
  await expect(take(cluster, 'n timer +10ms')).rejects.toMatchObject({ name: 'BudgetSpent', what: 'time' })
  // It would have computed for forty seconds.
  expect(performance.now() - begun).toBeLessThan(30_000)
  cluster.endBy(Number.POSITIVE_INFINITY)
  expect(await cluster.reset()).toEqual([])
  expect(labelsOf(cluster)).toEqual(['n timer +10ms'])
})

test('a node that gets no CPU for long is no divergence', () => {
  const nodeOf = (cpuMs: number[]) => {
    const clock = { elapsed: 0 }
    const moveClock = (elapsed: number) => {
      clock.elapsed = elapsed
    }
    const used = () => cpuMs.shift() ?? 0
    return { turnsUs: 0, cpuMs: used, instructions: 0, waitedByReading: 0, clock, moveClock } as unknown as HeldNode
  }
  const exceedingOf = (node: HeldNode) => {
    const limit = new CpuLimit([node], 10, () => undefined)
    for (;;) {
      const unsettled = limit.exceeding()
      if (unsettled) return unsettled
    }
  }
  expect(exceedingOf(nodeOf([]))).toMatchObject({ cpuMs: 0, stuckSeconds: expect.any(Number) })
  // One that gets enough is one, if it is still busy once its clock is a second ahead.
  const busy = nodeOf([0, 5, 11, 14])
  expect(exceedingOf(busy)).toEqual({ node: busy, cpuMs: 14 })
  expect(busy.clock.elapsed).toBe(1e9)
})

test('a crash keeps the disk, a restart finds it, and time goes on', async () => {
  const program = `
    const fs = require('fs')
    const count = fs.existsSync('count') ? Number(fs.readFileSync('count')) + 1 : 1
    fs.writeFileSync('count', String(count))
    console.log('start', count, Date.now())
    setInterval(() => {}, 5000)`
  const cluster = clusterOf({ nodes: { n: { command: ['node', 'n.js'] } }, faults: { crash: 1 } }, { 'n.js': program })
  await cluster.reset()
  await take(cluster, 'n timer +5000ms')
  await take(cluster, 'crash n')
  expect(cluster.state().node('n').alive).toBe(false)
  await take(cluster, 'restart n')
  expect(stdoutOf(cluster, 'n')).toEqual([`start 2 ${Date.UTC(2026, 0, 1) + 5000}`])
  await cluster.reset()
  expect(stdoutOf(cluster, 'n')).toEqual([`start 1 ${Date.UTC(2026, 0, 1)}`])
})

test('a closed cluster leaves no process and no file', async () => {
  const cluster = clusterOf(pair, { 'echo.js': echo })
  const before = children()
  await cluster.reset()
  expect(children().length).toBe(before.length + 2)
  cluster.close()
  expect(children()).toEqual(before)
  const runs = existsSync('/dev/shm/lastnail') ? readdirSync('/dev/shm/lastnail') : []
  expect(runs.filter(name => name.startsWith(`${process.pid}-`))).toEqual([])
})

/** Processes that this one has started. */
const children = () =>
  readdirSync('/proc/self/task').flatMap(task => {
    const path = `/proc/self/task/${task}/children`
    return existsSync(path) ? readFile(path) : []
  })

const readFile = (path: string) => readFileSync(path, 'utf8').trim().split(' ').filter(Boolean)

test('a mark in which a node is down is lost once it was discarded, and its steps are executed in its place', async () => {
  const program = "require('fs').writeFileSync('file', 'x'); setInterval(() => undefined, 1000)"
  const nodes = { n: { command: ['node', '-e', program] } }
  const cluster = clusterOf({ nodes, faults: { crash: 1 } }, {}, { rewind: true })
  await cluster.reset()
  await take(cluster, 'crash n')
  const mark = (await cluster.mark())!
  expect(mark.isLost).toBe(false)
  await mark.discard()
  expect(mark.isLost).toBe(true)
  await cluster.restore(mark)
  expect(labelsOf(cluster)).toEqual(['restart n'])
})
