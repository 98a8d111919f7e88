import { expect, test } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

type Command = readonly ['node', 'n.cjs'] | readonly ['python3', 'n.py']

const clusterFor = (program: string, command: Command = ['node', 'n.cjs']): Cluster =>
  clusterOf({ nodes: { n: { command: [...command] } } }, { [command[1]]: program, 'present.txt': 'as it was' })

/** Lets its timers fire until it has written so many lines. */
const runTo = async (cluster: Cluster, lines: number): Promise<string[]> => {
  expect(await cluster.reset()).toEqual([])
  while (stdoutOf(cluster, 'n').length < lines) await cluster.execute(cluster.enabled()[0]!)
  return stdoutOf(cluster, 'n')
}

/** What a program writes is the same each time; its process is started `starts` times in four executions. */
const expectSame = async (program: string, expected: readonly string[], starts: number, command?: Command) => {
  const cluster = clusterFor(program, command)
  for (let execution = 0; execution < 4; execution++) expect(await runTo(cluster, expected.length)).toEqual(expected)
  expect(cluster.starts).toBe(starts)
}

test('memory, timers and randomness are those of the beginning', () =>
  expectSame(
    `
    let count = 0
    const kept = []
    const first = Math.random()
    console.log('up')
    setInterval(() => {
      for (let i = 0; i < 20_000; i++) kept.push({ i })
      const isAnother = Math.random() !== first && require('crypto').randomUUID().length === 36
      console.log(++count, kept.length, Date.now() % 100_000, isAnother)
    }, 700)
    `,
    ['up', '1 20000 700 true', '2 40000 1400 true', '3 60000 2100 true'],
    1,
  ))

test('threads that were made since are gone, and are made again', () =>
  expectSame(
    `
    const { readdirSync, promises } = require('fs')
    const threads = () => readdirSync('/proc/self/task').map(Number).sort((a, b) => a - b).at(-1)
    const before = threads()
    setInterval(() => undefined, 1e9)
    console.log('up')
    setTimeout(async () => {
      await Promise.all([1, 2, 3, 4].map(() => promises.stat('.')))
      console.log(threads() - before)
    }, 10)
    `,
    ['up', '4'],
    1,
  ))

const children = (begin: string) => `
import os, time

def fork():
    pid = os.fork()
    if pid == 0: os._exit(0)
    return pid

def reap():
    try: return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError: return 'none'

first = ${begin}
print('up', flush=True)
time.sleep(1)
print('ended', reap() == first, flush=True)
fork()
print('made', flush=True)
time.sleep(1)
`

test('children that have ended since, and that nobody waited for, have never been', () =>
  expectSame(children(`'none'`), ['up', 'ended True', 'made'], 1, ['python3', 'n.py']))

test('a node that has yet to wait for a child that has ended is started anew', () =>
  expectSame(children('fork()'), ['up', 'ended True', 'made'], 4, ['python3', 'n.py']))

const living = `
import mmap, os, signal, time
told = []
signal.signal(signal.SIGCHLD, lambda *_: told.append('a child has ended'))
shared = mmap.mmap(-1, 1 << 20)
print('up', flush=True)
time.sleep(1)

def make():
    pid = os.fork()
    if pid > 0: return pid
    if os.fork() == 0: shared[0] += 1
    while True: time.sleep(1000)

before = shared[0]
first, second = make(), make()
time.sleep(1)
print(before, second - first, shared[0], told, flush=True)
time.sleep(1000)
`

test('processes that were made since, and live, have never been, nor what they wrote to memory that they share', () =>
  expectSame(living, ['up', '0 1 2 []'], 1, ['python3', 'n.py']))

test.runIf(process.getuid!() === 0)(
  'children of a process that has given up its privileges have the same ids again',
  () =>
    expectSame(
      `
import os, time
os.setgid(65534); os.setuid(65534)
print('up', flush=True)
time.sleep(1)
child = os.fork()
if child == 0: os._exit(0)
os.waitpid(child, 0)
print(child, flush=True)
time.sleep(1000)
`,
      ['up', '42'],
      1,
      ['python3', 'n.py'],
    ),
)

test('files that were changed, made and removed are as they were', () =>
  expectSame(
    `
    setInterval(() => undefined, 1e9)
    const fs = require('fs')
    fs.mkdirSync('made/deep', { recursive: true })
    fs.writeFileSync('made/deep/file', 'first')
    const log = fs.openSync('log', 'w')
    fs.writeSync(log, 'begun ')
    const show = () => console.log(fs.readdirSync('.').join(), fs.existsSync('made') && fs.readFileSync('made/deep/file', 'utf8'), fs.readFileSync('log', 'utf8'))
    show()
    setTimeout(() => {
      fs.writeFileSync('made/deep/file', 'second')
      fs.writeFileSync('new.txt', '')
      fs.writeSync(log, 'more')
      show()
    }, 10)
    setTimeout(() => {
      fs.rmSync('made', { recursive: true })
      show()
    }, 20)
    `,
    [
      'log,made,n.cjs,present.txt first begun ',
      'log,made,n.cjs,new.txt,present.txt second begun more',
      'log,n.cjs,new.txt,present.txt false begun more',
    ],
    1,
  ))

const removes = (begin: string, then: string) => `
    const fs = require('fs')
    setInterval(() => undefined, 1e9)
    const show = () => console.log(fs.existsSync('present.txt') ? fs.readFileSync('present.txt', 'utf8') : 'none')
    ${begin}
    show()
    setTimeout(() => {
      ${then}
      show()
    }, 10)`

test('a file that was there before the node, and was removed, is gone or there as it was', async () => {
  const remove = "fs.rmSync('present.txt')"
  const write = "fs.writeFileSync('present.txt', 'anew')"
  await expectSame(removes('', remove), ['as it was', 'none'], 1)
  await expectSame(removes(remove, write), ['none', 'anew'], 1)
  await expectSame(removes(`${remove}; ${write}`, remove), ['anew', 'none'], 1)
  await expectSame(removes(remove, "fs.mkdirSync('present.txt'); fs.rmdirSync('present.txt')"), ['none', 'none'], 1)
})

test('files that were there before the node, and first touched after its start, are as they were', () =>
  expectSame(
    `
    const fs = require('fs')
    setInterval(() => undefined, 1e9)
    const show = () => console.log(fs.readdirSync('.').join(), fs.readFileSync('present.txt', 'utf8'))
    show()
    setTimeout(() => {
      fs.appendFileSync('present.txt', ', and more')
      fs.mkdirSync('made')
      fs.writeFileSync('made/file', '')
      show()
    }, 10)
    `,
    ['n.cjs,present.txt as it was', 'made,n.cjs,present.txt as it was, and more'],
    1,
  ))

test('sockets that were opened since are closed; a port is free again', () =>
  expectSame(
    `
    const net = require('net')
    const dgram = require('dgram')
    const base = dgram.createSocket('udp4').bind(5000)
    base.on('message', data => console.log(String(data)))
    setTimeout(() => {
      const socket = dgram.createSocket('udp4').bind(6000, () => socket.send('to itself', 5000, '127.0.0.1'))
      const server = net.createServer(peer => peer.end('hello')).listen(7000, () => {
        net.connect(7000, '127.0.0.1').on('data', data => console.log(String(data), server.listening))
      })
    }, 10)
    console.log('up')
    `,
    ['up', 'to itself', 'hello true'],
    1,
  ))

test('a program that was run since, and has not ended, has never been', () =>
  expectSame(
    `
    console.log('up')
    setTimeout(() => {
      require('child_process').spawn('sleep', ['infinity'])
      console.log('spawned')
    }, 10)
    `,
    ['up', 'spawned'],
    1,
  ))

test('unread bytes of pipes and local sockets are those of the beginning, whatever was written and read since', () =>
  expectSame(
    `
import os, socket, time
read, write = os.pipe()
os.write(write, b'first' * 2000)
own, other = socket.socketpair()
print('up', flush=True)
time.sleep(1)
print(len(os.read(read, 99999)), flush=True)
os.write(write, b'later'); other.send(b'told')
time.sleep(1000)
`,
    ['up', '10000'],
    1,
    ['python3', 'n.py'],
  ))

test('sockets with a path stay, those that were made since are gone, and files of which little was written are as they were', () =>
  expectSame(
    `
import os, signal, socket, time
def listen(path):
    made = socket.socket(socket.AF_UNIX); made.bind(path); made.listen(); return made
server = listen('s')
large = open('large', 'w+b'); large.truncate(64 << 20)
os.pwrite(large.fileno(), b'first', 40 << 20)
print('up', flush=True)
time.sleep(1)
print(sorted(os.listdir('.')), os.pread(large.fileno(), 5, 40 << 20), os.pread(large.fileno(), 1, 50 << 20), flush=True)
other = listen('t')
client = socket.socket(socket.AF_UNIX); client.connect('s')
peer, _ = server.accept(); client.send(b'asked')
os.pwrite(large.fileno(), b'later', 40 << 20); os.pwrite(large.fileno(), b'later', 50 << 20)
print(peer.recv(9), os.fstat(large.fileno()).st_size >> 20, flush=True)
time.sleep(1000)
`,
    ['up', "['large', 'n.py', 'present.txt', 's'] b'first' b'\\x00'", "b'asked' 64"],
    1,
    ['python3', 'n.py'],
  ))

test('a socket that was not used yet is not used again, whether it was connected or closed since', () =>
  expectSame(
    `
import os, socket, time
server = socket.socket(); server.bind(('', 7000)); server.listen()
connects, closes, stays = [socket.socket() for _ in range(3)]
connects.settimeout(1)
print('up', [each.fileno() for each in (connects, closes, stays)], connects.getsockname(), flush=True)
time.sleep(1)
connects.connect(('127.0.0.1', 7000))
closes.close()
print(connects.getpeername(), stays.getsockname(), flush=True)
time.sleep(1000)
`,
    ["up [4, 5, 6] ('0.0.0.0', 0)", "('127.0.0.1', 7000) ('0.0.0.0', 0)"],
    1,
    ['python3', 'n.py'],
  ))

test('a socket of netlink stays, and what it had to be read is gone', () =>
  expectSame(
    `
import socket, struct, time
kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); kernel.bind((0, 1))
print('up', flush=True)
time.sleep(1)
getLink, dump = 18, 0x301
kernel.send(struct.pack('=LHHLLBxHLLL', 32, getLink, dump, 1, 0, 0, 0, 0, 0, 0))
newLink = struct.unpack('=LH', kernel.recv(65536)[:6])[1]
print(newLink, flush=True)
time.sleep(1000)
`,
    ['up', '16'],
    1,
    ['python3', 'n.py'],
  ))

const datagrams = (before: string, after: string) => `
import errno, socket, time
def between(own, other):
    made = socket.socket(type=socket.SOCK_DGRAM)
    made.bind(('127.0.0.1', own)); made.connect(('127.0.0.1', other))
    return made
a = between(7001, 7002); a.setblocking(False)
def read():
    try: return a.recv(9)
    except OSError as error: return errno.errorcode[error.errno]
${before}
print('up', flush=True)
time.sleep(1)
print(read(), flush=True)
${after}
time.sleep(1000)
`

test.each([
  ['an error', "a.send(b'x')", 'ECONNREFUSED'],
  ['an empty datagram', "between(7002, 7001).send(b'')", "b''"],
])('%s that a socket of datagrams has at the mark is not lost: it is not rewound', (_, before, told) =>
  expectSame(datagrams(before, ''), ['up', told], 4, ['python3', 'n.py']),
)

test('an error and datagrams that came since the mark are gone', () =>
  expectSame(datagrams('', "b = between(7002, 7001); b.send(b'later'); b.close(); a.send(b'x')"), ['up', 'EAGAIN'], 1, [
    'python3',
    'n.py',
  ]))

const closing = (twin: string) => `
import os, time
log = open('log', 'w+')
log.write('first\\n'); log.flush()
${twin}
present = open('present.txt')
present.read(3)
print('up', log.fileno(), present.fileno(), flush=True)
time.sleep(1)
print(log.tell(), present.read(), flush=True)
log.write('second\\n')
log.close(); present.close()
other = open('other', 'w')
print(other.fileno(), len(open('log').read()), flush=True)
time.sleep(1000)
`

const closed = (fd: number) => [`up ${fd} ${fd + 1}`, '6 it was', `${fd} 13`]

test('files that a process has closed since are open again, where they were', () =>
  expectSame(closing(''), closed(3), 1, ['python3', 'n.py']))

test('a process that has closed a file which another descriptor shares is started anew', () =>
  expectSame(closing('twin = os.dup(log.fileno())'), ['up 3 5', '6 it was', '3 13'], 4, ['python3', 'n.py']))

test('a process that has closed a file, and given its name to another, is started anew', () =>
  expectSame(
    `
import os, time
log = open('log', 'w+')
print('up', flush=True)
time.sleep(1)
log.close()
open('other', 'w').write('other')
os.rename('other', 'log')
print(open('log').read(), flush=True)
time.sleep(1000)
`,
    ['up', 'other'],
    4,
    ['python3', 'n.py'],
  ))

const watching = (beforeFork: string, afterFork: string) => `
import os, select, time
${beforeFork}
if os.fork() == 0:
    time.sleep(1000)
${afterFork}
print('up', flush=True)
time.sleep(1)
watch.close()
print('closed', flush=True)
time.sleep(1000)
`

test.each([
  { whose: 'of its own', program: watching('', 'watch = select.epoll()'), starts: 1 },
  { whose: 'that its child has too', program: watching('watch = select.epoll()', ''), starts: 4 },
])('of several processes, one has closed an epoll descriptor $whose', ({ program, starts }) =>
  expectSame(program, ['up', 'closed'], starts, ['python3', 'n.py']),
)

test('a process that has closed what it had is started anew', async () => {
  await expectSame(
    `
    const server = require('net').createServer().listen(7000, () => console.log('up'))
    setTimeout(() => server.close(() => console.log('closed')), 10)
    setTimeout(() => undefined, 20)
    `,
    ['up', 'closed'],
    4,
  )
  await expectSame(
    `
    const socket = require('dgram').createSocket('udp4').bind(7000, () => console.log('up'))
    setTimeout(() => socket.connect(8000, () => console.log(socket.remoteAddress().port)), 10)
    `,
    ['up', '8000'],
    4,
  )
})

test('a connection that was asked for in the beginning is asked for again', async () => {
  const server = "require('net').createServer(socket => socket.end('welcome')).listen(7000)"
  const client = `
    const { connect } = require('net')
    const again = () => connect(7000, 'server').setNoDelay().on('data', data => console.log(String(data))).on('close', again)
    again()`
  const cluster = clusterOf({
    nodes: { server: { command: ['node', '-e', server] }, client: { command: ['node', '-e', client] } },
  })
  for (let execution = 0; execution < 3; execution++) {
    expect(await cluster.reset()).toEqual([])
    expect(labelsOf(cluster)).toEqual(['client→server #1 open :7000'])
    await take(cluster, 'client→server #1 open :7000')
    await take(cluster, 'server→client #1 accept :7000')
    while (labelsOf(cluster).length > 0 && stdoutOf(cluster, 'client').length < 2)
      await cluster.execute(cluster.enabled()[0]!)
    expect(stdoutOf(cluster, 'client')).toEqual(['welcome', 'welcome'])
  }
  expect(cluster.starts).toBe(2)
})

test('a node that is reset in every execution: both of its lives are lived again', async () => {
  const program =
    "require('fs').appendFileSync('starts', 'x'); console.log(require('fs').readFileSync('starts', 'utf8')); setInterval(() => console.log('tick'), 1000)"
  const cluster = clusterOf(
    { nodes: { n: { command: ['node', 'n.cjs'] } }, faults: { reset: 1 } },
    { 'n.cjs': program },
  )
  for (let execution = 0; execution < 5; execution++) {
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'n timer +1000ms')
    await take(cluster, 'reset n')
    expect(stdoutOf(cluster, 'n')).toEqual(['xx'])
    await take(cluster, 'n timer +1000ms')
    expect(stdoutOf(cluster, 'n')).toEqual(['xx', 'tick'])
  }
  // The first life once; the second is kept when it begins for the second time.
  expect(cluster.starts).toBe(3)
})

test('a variant draws what the seed so many numbers further draws', async () => {
  const program = `
    const bytes = require('fs').readFileSync('/dev/urandom', { length: 8 }).subarray(0, 8)
    console.log(Math.random(), require('crypto').randomInt(1e9), bytes.toString('hex'))
    setInterval(() => undefined, 1000)`
  const definition = { nodes: { n: { command: ['node', 'n.cjs'] } } }
  const drawnBy = async (cluster: Cluster, variant: number) => {
    expect(await cluster.reset(variant)).toEqual([])
    return stdoutOf(cluster, 'n')
  }
  const cluster = clusterOf(definition, { 'n.cjs': program })
  const [first, second] = [await drawnBy(cluster, 0), await drawnBy(cluster, 1)]
  expect(second).not.toEqual(first)
  expect(await drawnBy(cluster, 0)).toEqual(first)
  expect(await drawnBy(cluster, 1)).toEqual(second)
  expect(cluster.starts).toBe(2)
  expect(await drawnBy(clusterOf(definition, { 'n.cjs': program }, { seed: 1 }), 0)).toEqual(second)
})

test('new processes are started where the lives of the old ones were ended', async () => {
  const cluster = clusterFor("console.log('up'); setInterval(() => console.log('tick'), 1000)")
  expect(await runTo(cluster, 2)).toEqual(['up', 'tick'])
  cluster.endLives()
  expect(await runTo(cluster, 2)).toEqual(['up', 'tick'])
  expect(cluster.starts).toBe(2)
})

const clock = `
  const first = Math.random()
  console.log('up')
  setInterval(() => console.log(Date.now() % 100_000, Math.random() !== first), 700)
`

test('without rewinding, every life begins with a new process, and does the same', async () => {
  const cluster = clusterOf({ nodes: { n: { command: ['node', 'n.cjs'] } } }, { 'n.cjs': clock }, { rewind: false })
  for (let execution = 0; execution < 3; execution++) expect(await runTo(cluster, 2)).toEqual(['up', '700 true'])
  expect(cluster.starts).toBe(3)
  expect(await cluster.checkpoint()).toBeUndefined()
})

test('rewinding can be ended: the lives that were kept end, and new ones begin', async () => {
  const cluster = clusterFor(clock)
  for (let execution = 0; execution < 2; execution++) await runTo(cluster, 2)
  expect(cluster.starts).toBe(1)
  cluster.stopRewinding()
  for (let execution = 0; execution < 2; execution++) expect(await runTo(cluster, 2)).toEqual(['up', '700 true'])
  expect(cluster.starts).toBe(3)
})

test('a request for a connection that was given up during the start is in flight again in each execution', async () => {
  const program = `
import socket, time
asking = socket.socket()
asking.setblocking(False)
asking.connect_ex(('peer', 7000))
asking.close()
listener = socket.create_server(('', 7001))
print('up', flush=True)
time.sleep(1e9)
`
  const peer = `
import socket
listener = socket.create_server(('', 7000))
while True:
    connection, _ = listener.accept()
    print('asked', flush=True)
    connection.close()
`
  const cluster = clusterOf(
    {
      nodes: {
        n: { command: ['python3', 'n.py'], listens: 7001 },
        peer: { command: ['python3', 'peer.py'], listens: 7000 },
      },
    },
    { 'n.py': program, 'peer.py': peer },
  )
  for (let execution = 0; execution < 3; execution++) {
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'n')).toEqual(['up'])
    await take(cluster, 'n→peer #1 open :7000')
    expect(labelsOf(cluster)).toContain('peer→n #1 accept :7000')
  }
  expect(cluster.starts).toBe(4)
})
