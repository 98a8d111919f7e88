import { readdirSync, readlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Random } from '../../../checker/system/random.ts'
import type { Cluster } from '../../../harness/cluster.ts'
import type { Timing } from '../../../harness/timed/timing.ts'
import { cpuNsOf } from '../../../linux/cpu-time.ts'
import { type Walk, walkAlong } from '../checkpoint/walks.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'
import { meshTiming } from '../timed/mesh.ts'

/** Three of these tell each other rumours in datagrams; what is heard goes through threads and a file. */
const gossip = {
  node: `
    const { createSocket } = require('node:dgram')
    const { appendFile, readFile } = require('node:fs/promises')
    const { randomBytes, scrypt } = require('node:crypto')
    const digest = require('node:util').promisify(scrypt)
    const [, , name, ...peers] = process.argv
    let heard = 0
    const socket = createSocket('udp4')
    socket.on('message', async bytes => {
      await appendFile('rumours', (await digest(bytes, name, 16, { N: 256 })).toString('hex') + '\\n')
      console.log(++heard, (await readFile('rumours', 'utf8')).trimEnd().split('\\n').at(-1), Date.now())
    })
    socket.bind(4000)
    const later = () => setTimeout(() => {
      const peer = peers[Math.floor(Math.random() * peers.length)]
      randomBytes(8, (_, bytes) => socket.send(name + bytes.toString('hex'), 4000, peer))
      later()
    }, 20 + Math.random() * 200)
    later()`,
  python: `
import asyncio, os, random, sys, threading, time
name, *peers = sys.argv[1:]
beats = 0
def write_down(rumour):
    with open('rumours', 'a') as file: file.write(rumour.decode())
    return len(open('rumours').read())
async def hear(rumour):
    print(await asyncio.to_thread(write_down, rumour), beats, rumour, time.time(), flush=True)
class Datagrams(asyncio.DatagramProtocol):
    def datagram_received(self, data, address): tasks.add(asyncio.ensure_future(hear(data)))
tasks = set()
def beat():
    global beats
    while True:
        time.sleep(0.1 + random.random())
        beats += 1
        # Threads come and go.
        threading.Thread(target=time.sleep, args=(random.random(),)).start()
async def main():
    loop = asyncio.get_running_loop()
    datagrams, _ = await loop.create_datagram_endpoint(Datagrams, local_addr=('0.0.0.0', 4000))
    threading.Thread(target=beat, daemon=True).start()
    while True:
        await asyncio.sleep(0.02 + 0.2 * random.random())
        datagrams.sendto(f'{name} {os.urandom(8).hex()}\\n'.encode(), (random.choice(peers), 4000))
asyncio.run(main())`,
  'node over TCP': `
    const { connect, createServer } = require('node:net')
    const [, , name, ...peers] = process.argv
    const hear = (from, socket) => socket.setNoDelay().on('error', error => console.log(from, error.code))
      .on('data', bytes => console.log(from, bytes.toString(), Date.now())).on('close', () => console.log(from, 'closed'))
    createServer(socket => hear('peer', socket).on('data', bytes => socket.write('heard ' + bytes))).listen(4000)
    const sockets = new Map()
    const speak = peer => {
      const socket = sockets.get(peer) ?? hear(peer, connect(4000, peer))
      sockets.set(peer, socket.once('close', () => sockets.delete(peer)))
      socket.write(name + Math.random())
      if (Math.random() < 0.1) socket.destroy()
      else if (Math.random() < 0.1) socket.end()
    }
    const later = () => setTimeout(() => {
      speak(peers[Math.floor(Math.random() * peers.length)])
      later()
    }, 20 + Math.random() * 200)
    later()`,
  // Says everything to itself first, over connections that never leave its kernel.
  'node over TCP to itself': `
    const { createSocket } = require('node:dgram')
    const { connect, createServer } = require('node:net')
    const [, , name, ...peers] = process.argv
    const datagrams = createSocket('udp4').on('message', bytes => console.log('heard', bytes.toString(), Date.now())).bind(4000)
    createServer(socket => socket.on('data', bytes => socket.write('said ' + bytes))).listen(4000)
    const tell = bytes => datagrams.send(name + bytes, 4000, peers[Math.floor(Math.random() * peers.length)])
    const sockets = [connect(4000, '127.0.0.1').on('data', tell)]
    const later = () => setTimeout(() => {
      if (Math.random() < 0.3) sockets.push(connect(4000, '127.0.0.1').on('data', tell))
      if (Math.random() < 0.2) sockets.shift()?.destroy()
      for (const socket of sockets) socket.write(String(Math.random()))
      later()
    }, 20 + Math.random() * 200)
    later()`,
  // A parent asks its child, over connections that never leave the kernel of both.
  'python, two processes over TCP': `
import os, random, socket, sys, time
name, *peers = sys.argv[1:]
server = socket.create_server(('127.0.0.1', 5000))
if os.fork() == 0:
    server.setblocking(False)
    import selectors
    selector = selectors.DefaultSelector()
    selector.register(server, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is server:
                connection, _ = server.accept()
                selector.register(connection, selectors.EVENT_READ)
            elif data := key.fileobj.recv(1000): key.fileobj.sendall(data + b'%d' % random.randrange(100))
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()
server.close()
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(('', 4000))
child = None
while True:
    datagrams.settimeout(0.02 + 0.2 * random.random())
    try: print('heard', datagrams.recv(1000), time.time(), flush=True)
    except TimeoutError: pass
    if child is None: child = socket.create_connection(('127.0.0.1', 5000))
    child.sendall(b'%d,' % random.randrange(100))
    answer = child.recv(1000)
    if random.random() < 0.2: child = child.close()
    datagrams.sendto(name.encode() + answer, (random.choice(peers), 4000))`,
  'python over TCP': `
import random, socket, sys, threading, time
name, *peers = sys.argv[1:]
def serve(connection):
    try:
        while data := connection.recv(1000):
            print('heard', data, time.time(), flush=True)
            connection.sendall(b'yes ' + data)
    except OSError as error: print('serving', error.errno, flush=True)
    connection.close()
def listen():
    with socket.create_server(('', 4000)) as server:
        while True: threading.Thread(target=serve, args=(server.accept()[0],)).start()
threading.Thread(target=listen, daemon=True).start()
sockets = {}
while True:
    time.sleep(0.02 + 0.2 * random.random())
    peer = random.choice(peers)
    try:
        if peer not in sockets: sockets[peer] = socket.create_connection((peer, 4000))
        sockets[peer].sendall(f'{name} {random.random()}'.encode())
        print('answer', sockets[peer].recv(1000), flush=True)
        if random.random() < 0.2: sockets.pop(peer).close()
    except OSError as error:
        print('asking', error.errno, flush=True)
        sockets.pop(peer, None)`,
  // A kernel learns from the lengths of what arrives how large a window to offer. By that, messages arrive in parts.
  'python over TCP, many lengths': `
import random, socket, sys, threading, time
name, peer, _ = sys.argv[1:]
lengths = [1, 600, 600, 700, 3000, 3000, 20000, 100000, 300000]
def adjust(s):
    size = random.choice([0, 0, 20000, 65536])
    if size: s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
def send(s):
    length = random.choice(lengths)
    s.sendall(b'%8d' % length + bytes(length))
def receive(s):
    length, parts = int(s.recv(8)), []
    time.sleep(0.02)
    while sum(parts) < length: parts.append(len(s.recv(1 << 20)))
    return parts
def serve(s):
    try:
        adjust(s)
        while True:
            print('heard', receive(s), flush=True)
            send(s)
    except (OSError, ValueError) as error: print('serving', error, flush=True)
def listen():
    with socket.create_server(('', 4000)) as server:
        while True: threading.Thread(target=serve, args=(server.accept()[0],)).start()
threading.Thread(target=listen, daemon=True).start()
s = None
while True:
    time.sleep(0.1 + 0.2 * random.random())
    try:
        if s is None:
            s = socket.create_connection((peer, 4000))
            adjust(s)
        send(s)
        print('answer', receive(s), flush=True)
    except (OSError, ValueError) as error:
        print('asking', error, flush=True)
        s = None`,
} as const

const commands = {
  node: ['node', 'n.cjs'],
  python: ['python3', 'n.py'],
  'node over TCP': ['node', 'n.cjs'],
  'node over TCP to itself': ['node', 'n.cjs'],
  'python, two processes over TCP': ['python3', 'n.py'],
  'python over TCP': ['python3', 'n.py'],
  'python over TCP, many lengths': ['python3', 'n.py'],
} as const

const trioOf = (kind: keyof typeof gossip, rewind: boolean, timing?: Timing): Cluster => {
  const node = (name: string, ...peers: string[]) => ({
    command: [...commands[kind], name, ...peers.map(peer => `{{${peer}.address}}`)],
  })
  return clusterOf(
    {
      nodes: { n1: node('n1', 'n2', 'n3'), n2: node('n2', 'n1', 'n3'), n3: node('n3', 'n1', 'n2') },
      faults: { drop: 2, duplicate: 2, partition: 1 },
      overlap: 2,
    },
    { [commands[kind][1]]: gossip[kind] },
    { seed: 1, rewind, ...(timing && { timing }) },
  )
}

interface Marked {
  readonly checkpoint: NonNullable<Awaited<ReturnType<Cluster['checkpoint']>>>
  readonly walk: Walk
}

const steps = 24

/** Executes whatever is offered, marks some states, and goes back to some of them, also of earlier executions. */
const wander = async (cluster: Cluster, executions: number): Promise<Walk[]> => {
  const random = new Random(1)
  const marks: Marked[] = []
  const walks: Walk[] = []
  for (let execution = 0; execution < executions; execution++) {
    await cluster.reset()
    let walk: Walk = { labels: [], seen: [] }
    for (let step = 0; step < steps; step++) {
      if (marks.length > 0 && random.next() < 0.15) {
        walks.push(walk)
        const { checkpoint, walk: before } = random.pick(marks)
        await cluster.restore(checkpoint)
        walk = { labels: [...before.labels], seen: [...before.seen] }
      }
      await walkAlong(cluster, [random.pick(labelsOf(cluster))], walk)
      if (random.next() > 0.2) continue
      const checkpoint = await cluster.checkpoint()
      marks.push({ checkpoint: checkpoint!, walk: { labels: [...walk.labels], seen: [...walk.seen] } })
    }
    walks.push(walk)
  }
  return walks
}

test.each(Object.keys(gossip) as (keyof typeof gossip)[])(
  'what three processes do after a mark is what new ones do after the same steps (%s)',
  async kind => {
    const cluster = trioOf(kind, true)
    const walks = await wander(cluster, 2)
    expect(walks.length).toBeGreaterThan(4)
    // All of it was done in place.
    expect(cluster.notes()).toEqual([])
    expect(cluster.starts).toBe(3)
    const others = trioOf(kind, false)
    for (const walk of walks) {
      await others.reset()
      expect(await walkAlong(others, walk.labels)).toEqual(walk)
    }
  },
)

/** Three nodes in a net that loses and delays, one of which comes later, goes and comes again. */
const netOfThree = meshTiming(
  ['n1', 'n2', 'n3'],
  way => ({
    ...{ delayMs: 10 + 7 * way, jitterMs: 5, loss: 0.1, bandwidth: 1e6, queue: { packets: 10 } },
    ...(way === 0 && { cross: { bandwidth: 3e5 } }),
  }),
  {
    initial: ['n1', 'n2'],
    events: [
      { atMs: 300, does: 'join', node: 'n3' },
      { atMs: 900, does: 'leave', node: 'n3', manner: 'kill' },
      { atMs: 1200, does: 'join', node: 'n3' },
    ],
    clocks: { n2: { driftPpm: 50 } },
    isSearched: true,
  },
)

/** Executes what is due first, or now and then something else; marks some states, and goes back to some of them. */
const wanderInTime = async (cluster: Cluster): Promise<{ walks: Walk[]; wentBack: number }> => {
  const random = new Random(2)
  const marks: Marked[] = []
  const walks: Walk[] = []
  let walk: Walk = { labels: [], seen: [] }
  await cluster.reset()
  for (let step = 0; step < 160; step++) {
    if (marks.length > 0 && random.next() < 0.06) {
      walks.push(walk)
      const { checkpoint, walk: before } = random.pick(marks)
      await cluster.restore(checkpoint)
      walk = { labels: [...before.labels], seen: [...before.seen] }
    }
    const enabled = cluster.enabled()
    const [first] = enabled.toSorted((one, other) => (one.due ?? 1e9) - (other.due ?? 1e9))
    await walkAlong(cluster, [(random.next() < 0.9 ? first! : random.pick(enabled)).label], walk)
    if (random.next() > 0.1) continue
    const checkpoint = await cluster.mark()
    if (checkpoint) marks.push({ checkpoint, walk: { labels: [...walk.labels], seen: [...walk.seen] } })
  }
  return { walks: [...walks, walk], wentBack: walks.length }
}

test.each(['node', 'node over TCP'] as const)(
  'so it is in a system with a common time: packets on their way are the same again, and nodes that are down (%s)',
  async kind => {
    const cluster = trioOf(kind, true, netOfThree)
    const { walks, wentBack } = await wanderInTime(cluster)
    expect(wentBack).toBeGreaterThan(5)
    expect(walks.some(({ labels }) => labels.includes('join n3'))).toBe(true)
    const others = trioOf(kind, false, netOfThree)
    for (const walk of walks) {
      await others.reset()
      expect(await walkAlong(others, walk.labels)).toEqual(walk)
    }
    expect(cluster.notes()).toEqual([])
  },
)

test('a mark is not used by another cluster, which executes the way again', async () => {
  const [one, other] = [trioOf('python', true), trioOf('python', true)]
  for (const cluster of [one, other]) await cluster.reset()
  const labels = [labelsOf(one)[0]!]
  await walkAlong(one, labels)
  const checkpoint = await one.checkpoint()
  await other.restore(checkpoint!)
  expect(labelsOf(other)).toEqual(labelsOf(one))
  expect(other.notes()).toEqual(['a state could not be marked, or gone back to, in place: n1: what it had is gone'])
})

test('a node in which nothing has happened since a mark is neither rewound nor marked again', async () => {
  const cluster = trioOf('node', true)
  await cluster.reset()
  await walkAlong(cluster, labelsOf(cluster).slice(0, 1))
  const idle = ['n2', 'n3'] as const
  const used = () => idle.map(name => cpuNsOf(cluster.debugging.pidOf(name)))
  const first = (await cluster.checkpoint())!
  const before = used()
  const [fingerprint, output] = [cluster.fingerprint(), stdoutOf(cluster, 'n1')]
  const timer = labelsOf(cluster).find(label => label.startsWith('n1 timer'))!
  await take(cluster, timer)
  const second = (await cluster.checkpoint())!
  await take(cluster, labelsOf(cluster).find(label => label.startsWith('n1 timer'))!)
  await cluster.restore(second)
  await cluster.restore(first)
  expect(used()).toEqual(before)
  expect([cluster.fingerprint(), stdoutOf(cluster, 'n1')]).toEqual([fingerprint, output])
  expect(cluster.notes()).toEqual([])
})

test('a mark is lost with its processes, and the way is executed again', async () => {
  const cluster = trioOf('python', true)
  await cluster.reset()
  await walkAlong(cluster, [labelsOf(cluster)[0]!])
  const [checkpoint, labels] = [await cluster.checkpoint(), labelsOf(cluster)]
  expect(checkpoint).toHaveProperty('isLost', false)
  cluster.endLives()
  expect(checkpoint).toHaveProperty('isLost', true)
  await cluster.restore(checkpoint!)
  expect(labelsOf(cluster)).toEqual(labels)
  expect(cluster.starts).toBe(6)
})

test('what was dropped, mapped anew or grown between two marks is at each as it was', async () => {
  const program = `
import mmap, time
size = 64 * 4096
pages = lambda: mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
total = lambda: (sum(m[i * 4096] for i in range(64)), len(kept), sum(kept), deep(400))
deep = lambda n: n and deep(n - 1)
m = pages()
kept = []
for turn in range(99):
    m[turn % 64 * 4096] = turn + 1
    if turn % 3 == 1: m.madvise(mmap.MADV_DONTNEED, turn % 16 * 4 * 4096, 16 * 4096)
    if turn % 5 == 4:
        m.close()
        m = pages()
    kept += range(20000) if turn % 4 else []
    if turn % 7 == 6: kept = []
    print(turn, total(), flush=True)
    time.sleep(1)
`
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'n.py'] } } }, { 'n.py': program })
  await cluster.reset()
  const marks = []
  for (let turn = 0; turn < 12; turn++) {
    marks.push((await cluster.checkpoint())!)
    await cluster.execute(cluster.enabled()[0]!)
  }
  const expected = stdoutOf(cluster, 'n')
  const random = new Random(1)
  for (let time = 0; time < 20; time++) {
    const turn = random.below(marks.length)
    await cluster.restore(marks[turn]!)
    expect(stdoutOf(cluster, 'n')).toEqual(expected.slice(0, turn + 1))
    const more = random.below(expected.length - turn)
    for (let step = 0; step < more; step++) await cluster.execute(cluster.enabled()[0]!)
    expect(stdoutOf(cluster, 'n')).toEqual(expected.slice(0, turn + 1 + more))
  }
  expect(cluster.starts).toBe(1)
  expect(cluster.notes()).toEqual([])
})

test('a child that ended and was waited for at a mark is gone there, wherever one goes back from', async () => {
  const program = `
import os, time
print('up', flush=True)
time.sleep(1)
os.fork() or os._exit(0)
print('made', flush=True)
time.sleep(1)
os.wait()
print('waited', flush=True)
time.sleep(1)
try: print('another', os.waitpid(-1, os.WNOHANG), flush=True)
except ChildProcessError: print('none', flush=True)
time.sleep(1)
`
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'n.py'] } } }, { 'n.py': program })
  const steps = async (count: number) => {
    for (let step = 0; step < count; step++) await cluster.execute(cluster.enabled()[0]!)
  }
  await cluster.reset()
  await steps(2)
  const checkpoint = (await cluster.mark())!
  await cluster.reset()
  await steps(1)
  await cluster.restore(checkpoint)
  await steps(1)
  expect(stdoutOf(cluster, 'n')).toEqual(['up', 'made', 'waited', 'none'])
  expect(cluster.starts).toBe(1)
  expect(cluster.notes()).toEqual([])
})

test('a thread that had ended at a mark stays so, also where it waited in a state that was marked just before', async () => {
  const program = `
import threading, time
threading.Thread(target=time.sleep, args=(1,)).start()
for turn in range(99):
    print(turn, threading.active_count(), flush=True)
    time.sleep(0.3)
`
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'n.py'] } } }, { 'n.py': program })
  const steps = async (count: number) => {
    for (let step = 0; step < count; step++) await cluster.execute(cluster.enabled()[0]!)
  }
  await cluster.reset()
  const start = (await cluster.checkpoint())!
  await steps(5)
  const ended = (await cluster.checkpoint())!
  await cluster.restore(start)
  await steps(1)
  expect(await cluster.checkpoint()).toBeDefined()
  await cluster.restore(ended)
  await steps(1)
  expect(stdoutOf(cluster, 'n')).toEqual(['0 2', '1 2', '2 2', '3 2', '4 1', '5 1'])
  expect(cluster.starts).toBe(1)
  expect(cluster.notes()).toEqual([])
})

test('the socket of a connection over which nothing came or went since a mark is kept, any other is made again', async () => {
  const server = `
    require('node:net').createServer(socket => socket.on('data', bytes => socket.write(bytes))).listen(7000)`
  const client = `
    const [first, second] = [1, 2].map(() => require('node:net').connect(7000, process.argv[2]))
    for (const socket of [first, second]) socket.on('data', bytes => console.log(String(bytes)))
    second.write('begun')
    setTimeout(() => first.write('later'), 1000)`
  const cluster = clusterOf(
    {
      nodes: {
        server: { command: ['node', 'server.js'], listens: 7000 },
        client: { command: ['node', 'client.js', '{{server.address}}'] },
      },
    },
    { 'server.js': server, 'client.js': client },
  )
  const arriving = () => cluster.enabled().find(({ kind }) => kind === 'deliver')
  const deliverAll = async () => {
    for (let next = arriving(); next; next = arriving()) await cluster.execute(next)
  }
  const sockets = () => {
    const directory = `/proc/${cluster.debugging.pidOf('client')}/fd`
    return readdirSync(directory)
      .map(fd => readlinkSync(`${directory}/${fd}`))
      .filter(link => link.startsWith('socket:'))
  }
  await cluster.reset()
  await deliverAll()
  const mark = (await cluster.mark())!
  const before = sockets()
  await cluster.restore(mark)
  expect(sockets()).toEqual(before)
  await cluster.execute(cluster.enabled().find(({ kind, node }) => kind === 'timer' && node === 'client')!)
  await deliverAll()
  expect(stdoutOf(cluster, 'client')).toEqual(['begun', 'later'])
  await cluster.restore(mark)
  const after = sockets()
  expect(after.filter(link => before.includes(link))).toHaveLength(before.length - 1)
  await cluster.execute(cluster.enabled().find(({ kind, node }) => kind === 'timer' && node === 'client')!)
  await deliverAll()
  expect(stdoutOf(cluster, 'client')).toEqual(['begun', 'later'])
})
