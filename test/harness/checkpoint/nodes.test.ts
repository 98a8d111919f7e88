import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'
import { hasCriu } from './criu.ts'
import { walkAlong, walkFrom } from './walks.ts'

/** The process that this thread has started last: it may keep others, to begin with them again. */
const newestChild = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim().split(' ').at(-1)

/** One node that is saved after `before` steps: it writes the same in the next ones, each time. */
const expectSame = async (cluster: Cluster, before: number, after: number): Promise<void> => {
  expect(await cluster.reset()).toEqual([])
  await walkFrom(cluster, before, 1)
  const checkpoint = await cluster.checkpoints.save()
  expect(checkpoint.lacking).toBe(undefined)
  const first = await walkFrom(cluster, after, 2)
  expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
  expect(await walkAlong(cluster, first.labels)).toEqual(first)
  await checkpoint.discard()
}

describe.skipIf(!hasCriu())('a node that is saved and made again (needs CRIU)', () => {
  test('has its memory, time, randomness, files, threads and names', () =>
    expectSame(
      clusterOf(
        { nodes: { n: { command: ['node', 'n.cjs'] } } },
        {
          'n.cjs': `
          const fs = require('fs')
          const kept = []
          const log = fs.openSync('log', 'a+')
          const show = () => {
            const status = fs.readFileSync('/proc/self/status', 'utf8')
            const masked = /^(Tgid|Seccomp|NoNewPrivs|SigCgt|SigIgn|SigBlk):.*$/gm
            console.log(kept.length, Date.now(), process.hrtime(), Math.random(), require('crypto').randomUUID(),
              fs.readFileSync('log', 'utf8'), require('os').hostname(), process.pid, status.match(masked).join(),
              fs.readFileSync('/proc/self/cgroup', 'utf8'))
          }
          setInterval(() => {
            for (let i = 0; i < 1000; i++) kept.push({ i })
            fs.writeSync(log, 'x')
            if (kept.length === 3000) fs.promises.readdir('/proc/self/task').then(tasks => console.log(tasks.join()))
            show()
          }, 700)`,
        },
      ),
      3,
      4,
    ))

  test('a restored node has its timers of the kernel', () =>
    expectSame(
      clusterOf(
        { nodes: { n: { command: ['python3', 'n.py'] } } },
        {
          'n.py': `
import asyncio, signal, sys, time
signal.signal(signal.SIGALRM, lambda *_: print('alarm', time.time(), flush=True))
signal.setitimer(signal.ITIMER_REAL, 1.5, 0.9)
async def main():
    while True:
        await asyncio.sleep(0.7)
        print('slept', time.monotonic(), signal.getitimer(signal.ITIMER_REAL), flush=True)
asyncio.run(main())`,
        },
      ),
      2,
      6,
    ))

  test('has timers that send signals', () =>
    expectSame(
      clusterOf(
        { nodes: { n: { command: ['python3', '-S', '-E', 'n.py'] } } },
        {
          'n.py': `
import ctypes, os, signal, struct, time
libc = ctypes.CDLL(None)
signal.signal(signal.SIGUSR1, lambda *_: print('timer', libc.timer_getoverrun(timer), time.monotonic(), flush=True))
timer = ctypes.c_void_p()
libc.timer_create(1, struct.pack('qii', 0, signal.SIGUSR1, 0) + bytes(48), ctypes.byref(timer))
libc.timer_settime(timer, 0, struct.pack('qqqq', 0, 900000000, 1, 500000000), None)
while True:
    time.sleep(0.7)
    print('slept', time.monotonic(), flush=True)`,
        },
      ),
      2,
      4,
    ))

  test('is not saved once its first process has ended before others, and its way is executed again', async () => {
    const cluster = clusterOf({ nodes: { n: { command: ['sh', '-c', '(sleep 1; echo later; sleep 9) & exit 0'] } } })
    await cluster.reset()
    const checkpoint = await cluster.checkpoints.save()
    expect(checkpoint.lacking).toBe('its first process has ended before others')
    await checkpoint.discard()
  })

  test('has no threads that have ended, and is rewound to the end of its start afterwards', async () => {
    const cluster = clusterOf(
      { nodes: { n: { command: ['python3', 'n.py'] } } },
      {
        'n.py': `
import threading, time
begin = threading.Event()
thread = threading.Thread(target=begin.wait)
thread.start()
print('up', flush=True)
time.sleep(1)
begin.set()
thread.join()
for _ in range(9):
    print(threading.active_count(), 'left', flush=True)
    time.sleep(1)`,
      },
    )
    for (let again = 0; again < 2; again++) await expectSame(cluster, 3, 9)
    expect(stdoutOf(cluster, 'n')).toEqual(['up', ...Array(9).fill('1 left')])
    expect(cluster.state().node('n').alive).toBe(false)
  })

  test('a restored node has its children', () =>
    expectSame(
      clusterOf(
        { nodes: { n: { command: ['sh', 'n.sh'] } } },
        {
          'n.sh':
            'trap "echo child" CHLD\n(while sleep 1; do echo inner; done) &\nwhile sleep 0.7; do echo outer; done\n',
        },
      ),
      3,
      6,
    ))

  test('a restored node is scheduled as it was', async () => {
    const cluster = clusterOf({ nodes: { n: { command: ['node', '-e', 'setInterval(() => undefined, 700)'] } } })
    await cluster.reset()
    const checkpoint = await cluster.checkpoints.save()
    const scheduled = () => readFileSync(`/proc/${newestChild()}/stat`, 'latin1').split(' ').slice(39, 41)
    const before = scheduled()
    expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
    expect(scheduled()).toEqual(before)
    await checkpoint.discard()
  })

  test('answers clients and observers on the connections that they had', async () => {
    const server = `
      const { createServer } = require('http')
      let [count, connections] = [0, 0]
      const server = createServer((request, response) => {
        if (request.method === 'POST') count += 1
        response.end(JSON.stringify({ count, connections }))
      })
      server.on('connection', () => { connections += 1 })
      server.keepAliveTimeout = 0
      server.listen(8080)`
    const cluster = clusterOf({
      nodes: { n: { command: ['node', '-e', server], listens: 8080 } },
      state: async n => (await n.http(8080, '/')).body.json(),
      clients: { add: { run: async ({ n }) => (await n!.http(8080, '/', { method: 'POST' })).body.text(), times: 4 } },
    })
    await cluster.reset()
    await take(cluster, 'client add')
    const checkpoint = await cluster.checkpoints.save()
    expect(checkpoint.lacking).toBe(undefined)
    await take(cluster, 'client add')
    const first = cluster.state()
    expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
    expect(cluster.state().calls).toHaveLength(1)
    await take(cluster, 'client add')
    expect(cluster.state().nodes).toEqual(first.nodes)
    expect(cluster.state().calls).toEqual(first.calls)
    await checkpoint.discard()
  })

  test('that was down is down, and has its disk when it starts again', async () => {
    const program =
      "require('fs').appendFileSync('starts', 'x'); console.log(require('fs').readFileSync('starts', 'utf8')); setInterval(() => undefined, 1000)"
    const cluster = clusterOf(
      { nodes: { n: { command: ['node', 'n.cjs'] } }, faults: { crash: 1 } },
      { 'n.cjs': program },
    )
    await cluster.reset()
    await take(cluster, 'crash n')
    const checkpoint = await cluster.checkpoints.save()
    expect(checkpoint.lacking).toBe(undefined)
    for (let again = 0; again < 2; again++) {
      expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
      expect(labelsOf(cluster)).toEqual(['restart n'])
      await take(cluster, 'restart n')
      expect(stdoutOf(cluster, 'n')).toEqual(['xx'])
    }
    await checkpoint.discard()
  })
})
