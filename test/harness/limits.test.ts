import { expect, test } from 'vitest'
import { defineSystem, resolveSystem } from '../../harness/config/config.ts'
import { clusterOf, labelsOf, stdoutOf, take } from './system.ts'

const python = (program: string): [string, ...string[]] => ['python3', '-S', '-E', '-c', program]

const forking = (count: number) => `
import os, time
made = 0
try:
    while made < ${count}:
        if os.fork() == 0: time.sleep(1000)
        made += 1
    print('made all', flush=True)
except OSError as error:
    print('made', made, error.strerror, flush=True)
time.sleep(1)
print('goes on', flush=True)
time.sleep(1000)
`

const noteOfProcesses = (count: number) =>
  `n: it has ${count} processes and threads, as many as it may have (limits.processes): more are refused with EAGAIN`

test('no node has more processes than it may, and that is said', async () => {
  const cluster = clusterOf({ nodes: { n: { command: python(forking(30)), limits: { processes: 20 } } } })
  for (let times = 0; times < 2; times++) {
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'n timer +1000ms')
    expect(stdoutOf(cluster, 'n')).toEqual(['made 19 Resource temporarily unavailable', 'goes on'])
  }
  expect(cluster.notes()).toEqual([noteOfProcesses(20)])
  const enough = clusterOf({ nodes: { n: { command: python(forking(19)) } }, limits: { processes: 20 } })
  await enough.reset()
  expect([stdoutOf(enough, 'n'), enough.notes()]).toEqual([['made all'], []])
})

test('600 children are more than a node may have if nothing else is said', { timeout: 120_000 }, async () => {
  const cluster = clusterOf({ nodes: { n: { command: python(forking(600)) } } }, {}, { rewind: false })
  await cluster.reset()
  expect(stdoutOf(cluster, 'n')).toEqual(['made 511 Resource temporarily unavailable'])
  expect(cluster.notes()).toEqual([noteOfProcesses(512)])
})

test('threads count as processes of their node', async () => {
  const program = `
import threading, time
try:
    for _ in range(30): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
except RuntimeError as error: print(error, threading.active_count(), flush=True)
time.sleep(1000)`
  const cluster = clusterOf({ nodes: { n: { command: python(program), limits: { processes: 20 } } } })
  await cluster.reset()
  expect(stdoutOf(cluster, 'n')).toEqual([`can't start new thread 20`])
  expect(cluster.notes()).toEqual([noteOfProcesses(20)])
})

const filling = (path: string, megabytes: number) => `
import time
with open('${path}', 'wb') as file:
    try:
        for _ in range(${megabytes}): file.write(b'z' * (1 << 20))
        file.flush()
        print('written', flush=True)
    except OSError as error: print(error.strerror, flush=True)
    time.sleep(1)
    print('goes on', flush=True)
    time.sleep(1000)`

test('/dev/shm has a size, and that it is full is said', async () => {
  const cluster = clusterOf({
    nodes: {
      n: { command: python(filling('/dev/shm/x', 20)), limits: { shm: '16MB' } },
      within: { command: python(filling('/dev/shm/x', 20)) },
    },
  })
  expect(await cluster.reset()).toEqual([])
  expect([stdoutOf(cluster, 'n'), stdoutOf(cluster, 'within')]).toEqual([['No space left on device'], ['written']])
  expect(cluster.notes()).toContain('n: its /dev/shm is full: it holds 16MB (limits.shm)')
  expect(cluster.notes().filter(note => note.includes('limits'))).toHaveLength(1)
})

const growing = (megabytes: number) => `
import time
time.sleep(1)
kept = bytearray(${megabytes} << 20)
for at in range(0, len(kept), 4096): kept[at] = 1
print('grown', flush=True)
time.sleep(1)
time.sleep(1000)`

/** Fires timers until the node has ended or only waits for long. */
const findingsOf = async (cluster: ReturnType<typeof clusterOf>) => {
  expect(await cluster.reset()).toEqual([])
  for (let step = 0; step < 3 && labelsOf(cluster).includes('n timer +1000ms'); step++) {
    const { findings } = await take(cluster, 'n timer +1000ms')
    if (findings.length > 0) return findings
  }
  return []
}

const tooMuchMemory = 'it used more than 64MB of memory (limits.memory), and was ended'

test('a node that uses more memory than it may is ended, with a word', async () => {
  const cluster = clusterOf({ nodes: { n: { command: python(growing(200)), limits: { memory: '64MB' } } } })
  for (let times = 0; times < 2; times++)
    expect(await findingsOf(cluster)).toMatchObject([
      { kind: 'crash', node: 'n', message: expect.stringContaining(tooMuchMemory) },
    ])
  expect(cluster.notes()).toContain(`n: ${tooMuchMemory}`)
  const within = clusterOf({ nodes: { n: { command: python(growing(30)), limits: { memory: '64MB' } } } })
  expect([await findingsOf(within), within.notes()]).toEqual([[], []])
})

test('where a node may end, that is said too', async () => {
  const cluster = clusterOf({
    nodes: { n: { command: python(growing(200)), limits: { memory: '64MB' }, exits: 'allowed' } },
  })
  expect(await findingsOf(cluster)).toEqual([])
  expect([labelsOf(cluster), cluster.notes()]).toEqual([[], expect.arrayContaining([`n: ${tooMuchMemory}`])])
})

test('memory that processes share counts once', async () => {
  const program = `
import os, time
kept = bytearray(b'x' * (60 << 20))
for _ in range(6):
    if os.fork() == 0: time.sleep(1000)
time.sleep(1)
time.sleep(1000)`
  const cluster = clusterOf({ nodes: { n: { command: python(program), limits: { memory: '160MB' } } } })
  expect(await findingsOf(cluster)).toEqual([])
  expect(cluster.notes().filter(note => note.includes('limits'))).toEqual([])
})

test('a node that writes more to its disk than it may is ended, with a word', async () => {
  const cluster = clusterOf({
    nodes: {
      n: { command: python(`import time\ntime.sleep(1)\n${filling('/tmp/x', 300)}`), limits: { disk: '100MB' } },
    },
  })
  expect(await findingsOf(cluster)).toMatchObject([
    {
      kind: 'crash',
      message: expect.stringContaining('it wrote more than 100MB to its disk (limits.disk), and was ended'),
    },
  ])
})

test('limits of a node go before those of all', () => {
  const { nodes } = resolveSystem(
    defineSystem({
      name: 'limits',
      limits: { memory: '1GB', processes: 100 },
      nodes: { a: { command: ['true'] }, b: { command: ['true'], limits: { memory: '512m', shm: '1MB' } } },
    }),
    { directory: '/' },
  )
  const [mega, giga] = [2 ** 20, 2 ** 30]
  expect(nodes.map(({ limits }) => limits)).toEqual([
    { memoryBytesMax: giga, processesMax: 100, shmBytesMax: 256 * mega, diskBytesMax: giga },
    { memoryBytesMax: 512 * mega, processesMax: 100, shmBytesMax: mega, diskBytesMax: giga },
  ])
  const wrong = { name: 'wrong', nodes: { a: { command: ['true'], limits: { memory: 'much' } } } }
  expect(() => resolveSystem(wrong, { directory: '/' })).toThrow(
    `nodes.a.limits.memory: expected an amount such as '256MB' or '2GB', found "much"`,
  )
})
