import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import { clusterOf, labelsOf, stdoutOf } from '../system.ts'

type Program = readonly [name: 'n.cjs' | 'n.py', text: string]

const clusterFor = ([name, text]: Program): Cluster =>
  clusterOf({ nodes: { n: { command: [name === 'n.py' ? 'python3' : 'node', name] } } }, { [name]: text })

/** Lets its timers fire until nothing is left to do. */
const runToEnd = async (cluster: Cluster): Promise<string[]> => {
  expect(await cluster.reset()).toEqual([])
  for (let next = cluster.enabled()[0]; next; next = cluster.enabled()[0]) await cluster.execute(next)
  return stdoutOf(cluster, 'n')
}

/** What a program writes is the same each time; its process is started `starts` times in four executions. */
const expectSame = async (program: Program, expected: readonly string[], starts: number) => {
  const cluster = clusterFor(program)
  for (let execution = 0; execution < 4; execution++) expect(await runToEnd(cluster)).toEqual(expected)
  expect(cluster.state().node('n').alive).toBe(false)
  expect(cluster.starts).toBe(starts)
}

test('a process that has ended is lived again', async () => {
  await expectSame(['n.cjs', "console.log('up'); setTimeout(() => console.log('end'), 10)"], ['up', 'end'], 1)
  await expectSame(
    ['n.cjs', "console.log('up'); process.on('exit', () => console.log('bye')); setTimeout(process.exit, 10)"],
    ['up', 'bye'],
    1,
  )
  await expectSame(['n.py', "import time; print('up', flush=True); time.sleep(1); print('end')"], ['up', 'end'], 1)
})

// IPPROTO_MPTCP, with which Go listens.
test('a listener of multipath TCP listens again', () =>
  expectSame(
    [
      'n.py',
      `import os, socket, time
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
listener.bind(('', 7000))
listener.listen()
print('up', flush=True)
time.sleep(1)
os._exit(0)`,
    ],
    ['up'],
    1,
  ))

test('a process that a signal ends is started anew', () =>
  expectSame(['n.py', "import ctypes, time; print('up', flush=True); time.sleep(1); ctypes.string_at(0)"], ['up'], 4))

test('a process that ends with a child is started anew', () =>
  expectSame(
    ['n.py', "import os, time; print('up', flush=True); time.sleep(1); os.fork() or time.sleep(9); os._exit(0)"],
    ['up'],
    4,
  ))

test('what a process has open when it ends is closed for others, and open when it is lived again', async () => {
  const server = `
    const { createServer } = require('net')
    const { createSocket } = require('dgram')
    createServer(socket => socket.on('error', () => undefined).pipe(socket)).listen(7000)
    createSocket('udp4').bind(8000).on('message', () => {
      console.log('told to end')
      process.exit()
    })`
  const client = `
    const { connect } = require('net')
    const { createSocket } = require('dgram')
    const ask = (done = () => undefined) => {
      const socket = connect(7000, 'server', () => socket.write('hello'))
      socket.on('data', data => console.log(String(data))).on('error', error => console.log(error.code))
      return socket.on('data', done).on('close', () => console.log('closed'))
    }
    const tell = () => createSocket('udp4').send('end', 8000, 'server')
    ask(tell).on('close', () => ask().on('close', tell))`
  const cluster = clusterOf(
    { nodes: { server: { command: ['node', 's.cjs'] }, client: { command: ['node', 'c.cjs'] } } },
    { 's.cjs': server, 'c.cjs': client },
  )
  for (let execution = 0; execution < 3; execution++) {
    expect(await cluster.reset()).toEqual([])
    while (labelsOf(cluster).length > 0) await cluster.execute(cluster.enabled()[0]!)
    expect(stdoutOf(cluster, 'server')).toEqual(['told to end'])
    expect(stdoutOf(cluster, 'client')).toEqual(['hello', 'closed', 'ECONNREFUSED', 'closed'])
  }
  expect(cluster.starts).toBe(2)
})

const threads = (work: string) => `
import ctypes, threading, time
c = ctypes.CDLL(None)
lock = ctypes.create_string_buffer(64)
kind = ctypes.create_string_buffer(8)
c.pthread_mutexattr_init(kind)
c.pthread_mutexattr_setrobust(kind, 1)
c.pthread_mutex_init(lock, kind)
begin = threading.Event()
def other():
    begin.wait()
    ${work}
thread = threading.Thread(target=other)
thread.start()
print('up', flush=True)
time.sleep(1)
`

test('a thread that has ended is there again', () =>
  expectSame(
    [
      'n.py',
      `${threads("print('other', flush=True)")}
begin.set()
thread.join()
time.sleep(1)
print(threading.active_count(), 'left', flush=True)`,
    ],
    ['up', 'other', '1 left'],
    1,
  ))

test('a thread that ends with a lock leaves it to others, and is made again', () =>
  expectSame(
    [
      'n.py',
      `${threads('c.pthread_mutex_lock(lock)')}
begin.set()
thread.join()
print('its owner has died:', c.pthread_mutex_lock(lock) == 130, flush=True)`,
    ],
    ['up', 'its owner has died: True'],
    1,
  ))

test('a process whose first thread ends goes on until the last has', () =>
  expectSame(
    [
      'n.py',
      `${threads('pass')}
def last():
    time.sleep(3)
    print('last', flush=True)
    c.syscall(60, 0)
threading.Thread(target=last).start()
print('both', flush=True)
time.sleep(1)
begin.set()
thread.join()
c.syscall(60, 0)`,
    ],
    ['up', 'both', 'last'],
    4,
  ))

test('a process that had something open twice, and closed both, is started anew', () =>
  expectSame(
    [
      'n.py',
      `
import os, select, time
watch = select.epoll()
twin = os.dup(watch.fileno())
print('up', flush=True)
time.sleep(1)
os.close(twin)
watch.close()
print('end', flush=True)`,
    ],
    ['up', 'end'],
    4,
  ))

test('nothing is left of a process that has ended when its cluster is closed', async () => {
  const cluster = clusterFor(['n.cjs', "console.log('up'); setTimeout(() => console.log('end'), 10)"])
  expect(await cluster.reset()).toEqual([])
  const pid = cluster.debugging.pidOf('n')
  await cluster.execute(cluster.enabled()[0]!)
  expect(cluster.state().node('n').alive).toBe(false)
  cluster.close()
  expect(existsSync(`/proc/${pid}`)).toBe(false)
})

test('a life that somebody else killed is not said to be impossible to rewind', async () => {
  const cluster = clusterFor(['n.cjs', "console.log('up'); setTimeout(() => {}, 1000)"])
  expect(await cluster.reset()).toEqual([])
  process.kill(cluster.debugging.pidOf('n')!, 'SIGKILL')
  expect(await cluster.reset()).toEqual([])
  expect(cluster.starts).toBe(2)
  expect(cluster.notes()).toEqual([])
})
