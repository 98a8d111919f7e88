import { readlinkSync, writeFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import type { Message } from '../../proxy/message.ts'
import { Machine } from './machine.ts'

let machine: Machine
/** Set where so much is sent that a kernel may drop what it has no memory for. */
let hasDropped = false

const pair = () => {
  machine = new Machine()
  machine.addNode('n1', '10.0.0.1')
  machine.addNode('n2', '10.0.0.2')
  return machine
}

afterEach(async () => {
  const { resent, ...anomalies } = machine.network.anomalies()
  await machine.close()
  expect(anomalies).toEqual({ gaps: 0, retransmissions: 0, corrupt: 0 })
  if (!hasDropped) expect(resent).toBe(0)
  hasDropped = false
})

const labels = (messages: readonly Message[]) => messages.map(message => message.label)

/** Starts a program and waits, delivering nothing, until it says `ready`. */
const startServer = async (source: string) => {
  const server = machine.node('n2', source)
  await machine.until(() => server.said('ready'))
  return server
}

test('curl gets from an http server, one message a step', async () => {
  pair()
  await startServer(`require('http').createServer((request, response) => {
    response.setHeader('Connection', 'close').removeHeader('Date'); response.end(request.url)
  }).listen(7000, () => console.log('ready'))`)
  const curl = machine.start('n1', 'curl', '-s', '-A', 'curl', 'http://10.0.0.2:7000/state')
  const delivered: Message[] = []
  await machine.deliverUntil(() => curl.isOver && delivered.length === 6, delivered)
  expect(curl.output).toBe('/state')
  expect(labels(delivered).sort()).toEqual([
    'n1→n2 #1 open :7000',
    'n1→n2 #2 75 bytes :7000 "GET /state HTTP/1.1"',
    'n1→n2 #3 close :7000',
    'n2→n1 #1 accept :7000',
    expect.stringMatching(/^n2→n1 #2 \d+ bytes :7000 "HTTP\/1.1 200 OK"$/),
    'n2→n1 #3 close :7000',
  ])
})

test('connecting is held: first the SYN, then the answer', async () => {
  pair()
  await startServer(
    `require('net').createServer(() => console.log('accepted')).listen(7000, () => console.log('ready'))`,
  )
  const client = machine.node('n1', `require('net').connect(7000, '10.0.0.2', () => console.log('connected'))`)
  const [open] = await machine.untilHeld('n1→n2 #1 open :7000')
  expect(client.output).toBe('')
  machine.network.messages.deliver(open!)
  const [accept] = await machine.untilHeld('n2→n1 #1 accept :7000')
  expect(client.output).toBe('')
  machine.network.messages.deliver(accept!)
  await machine.until(() => client.said('connected'))
  expect(machine.network.faults.connections()).toEqual([
    { opener: 'n1', listener: 'n2', port: 7000, number: 1, label: 'n1→n2 connection 1 :7000' },
  ])
})

test('a port that nobody listens on refuses, when the refusal is delivered', async () => {
  pair()
  const client = machine.node('n1', `require('net').connect(7000, '10.0.0.2').on('error', e => console.log(e.code))`)
  machine.network.messages.deliver((await machine.untilHeld('n1→n2 #1 open :7000'))[0]!)
  const [refuse] = await machine.untilHeld('n2→n1 #1 refuse :7000')
  expect(client.output).toBe('')
  machine.network.messages.deliver(refuse!)
  await machine.until(() => client.isOver)
  expect(client.output).toBe('ECONNREFUSED\n')
  expect(machine.network.messages.all()).toEqual([])
})

test('an address without a host refuses at once', async () => {
  pair()
  const client = machine.node('n1', `require('net').connect(7000, '10.0.0.99').on('error', e => console.log(e.code))`)
  await machine.until(() => client.isOver)
  expect(client.output).toBe('ECONNREFUSED\n')
  expect(machine.network.ignored().unknownConnections).toBe(1)
})

test('python asyncio: half-close, the other direction goes on, and both close', async () => {
  pair()
  const server = machine.python(
    'n2',
    `
import asyncio
async def serve(reader, writer):
    data = await reader.read()
    print('eof after', data.decode())
    writer.write(b'answer')
    await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(serve, '0.0.0.0', 7000)
    print('ready')
    await asyncio.sleep(1000)
asyncio.run(main())`,
  )
  await machine.until(() => server.said('ready'))
  const client = machine.python(
    'n1',
    `
import asyncio
async def main():
    reader, writer = await asyncio.open_connection('10.0.0.2', 7000)
    writer.write(b'question')
    writer.write_eof()
    print((await reader.read()).decode())
asyncio.run(main())`,
  )
  const delivered: Message[] = []
  await machine.deliverUntil(() => client.isOver, delivered)
  await machine.deliverUntil(() => machine.network.messages.all().length === 0, delivered)
  expect(server.output).toBe('ready\neof after question\n')
  expect(client.output).toBe('answer\n')
  expect(labels(delivered)).toEqual([
    'n1→n2 #1 open :7000',
    'n2→n1 #1 accept :7000',
    'n1→n2 #2 8 bytes :7000 "question"',
    'n1→n2 #3 close :7000',
    'n2→n1 #2 6 bytes :7000 "answer"',
    'n2→n1 #3 close :7000',
  ])
})

const connected = async (serverBody: string, clientBody: string) => {
  pair()
  const server = await startServer(`
    const server = require('net').createServer({ allowHalfOpen: true }, socket => {
      socket.on('error', error => console.log(error.code)); ${serverBody}
    }).listen(7000, () => console.log('ready'))`)
  const client = machine.node(
    'n1',
    `const socket = require('net').connect({ port: 7000, host: '10.0.0.2', allowHalfOpen: true }, () => {
       console.log('connected'); ${clientBody}
     }).on('error', error => console.log(error.code))`,
  )
  machine.network.messages.deliver((await machine.untilHeld('n1→n2 #1 open :7000'))[0]!)
  machine.network.messages.deliver((await machine.untilHeld('n2→n1 #1 accept :7000'))[0]!)
  await machine.until(() => client.said('connected'))
  return { server, client }
}

test('a reset by the application arrives as one, when it is delivered', async () => {
  const { server, client } = await connected('', 'socket.resetAndDestroy()')
  const [abort] = await machine.untilHeld('n1→n2 #2 abort :7000')
  await machine.until(() => client.isOver)
  expect(server.output).toBe('ready\n')
  machine.network.messages.deliver(abort!)
  await machine.until(() => server.said('ECONNRESET'))
  expect(machine.network.messages.all()).toEqual([])
})

test('a reset by the network ends both, and what is in flight is gone', async () => {
  const { server, client } = await connected('', `socket.write('lost')`)
  await machine.untilHeld('n1→n2 #2 4 bytes :7000 "lost"')
  machine.network.faults.resetConnection(machine.network.faults.connections()[0]!)
  expect(machine.network.messages.all()).toEqual([])
  await machine.until(() => server.said('ECONNRESET') && client.said('ECONNRESET'))
  expect(machine.network.faults.connections()).toEqual([])
})

test('both close at once', async () => {
  const { server, client } = await connected(
    `socket.end(); socket.on('close', () => console.log('closed')).resume()`,
    `socket.end(); socket.on('close', () => console.log('closed')).resume()`,
  )
  const held = await machine.untilHeld('n2→n1 #2 close :7000', 'n1→n2 #2 close :7000')
  expect(server.output + client.output).toBe('ready\nconnected\n')
  for (const message of held) machine.network.messages.deliver(message)
  await machine.until(() => server.said('closed') && client.said('closed'))
  expect(machine.network.messages.all()).toEqual([])
})

test('keep-alive probes are answered: a silent connection stays', async () => {
  // Probes every second, gone after two without an answer; TCP_USER_TIMEOUT would notice a lost one as well.
  pair()
  const options = `
s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
s.settimeout(4.5)
try: print(s.recv(1))
except OSError as error: print(type(error).__name__)`
  const server = machine.python(
    'n2',
    `
import socket
l = socket.create_server(('0.0.0.0', 7000))
print('ready')
s, _ = l.accept()${options}`,
  )
  await machine.until(() => server.said('ready'))
  const client = machine.python('n1', `import socket\ns = socket.create_connection(('10.0.0.2', 7000))${options}`)
  await machine.deliverUntil(() => machine.network.faults.connections().length === 1)
  await machine.until(() => client.isOver && server.isOver)
  // Whoever ends first closes; nothing else is seen but the silence.
  expect([client.output, server.output]).toEqual(['TimeoutError\n', 'ready\nTimeoutError\n'])
})

test('a receiver that does not read is not overrun, and gets everything once it reads', async () => {
  pair()
  const server = machine.python(
    'n2',
    `
import socket, hashlib, sys
l = socket.socket()
l.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
l.bind(('0.0.0.0', 7000))
l.listen()
print('ready')
s, _ = l.accept()
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(('0.0.0.0', 9000))
print('accepted')
u.recv(1)
total, digest = 0, hashlib.sha256()
while data := s.recv(1000):
    total += len(data)
    digest.update(data)
print(total, digest.hexdigest())`,
  )
  await machine.until(() => server.said('ready'))
  const client = machine.python(
    'n1',
    `
import socket, hashlib
s = socket.create_connection(('10.0.0.2', 7000))
data = bytes(i * 31 % 251 for i in range(3000000))
s.sendall(data)
s.close()
print(len(data), hashlib.sha256(data).hexdigest())`,
  )
  await machine.deliverUntil(
    () => client.isOver && server.said('accepted') && machine.network.messages.all().length === 0,
  )
  machine.network.attachments.virtualHost('control', '10.0.1.1').sendUdp('n2', 9000, Buffer.from('x'))
  await machine.deliverUntil(() => server.isOver)
  expect(server.output).toBe(`ready\naccepted\n${client.output}`)
  expect(client.output).toMatch(/^3000000 /)
})

/** Sends and receives `length` bytes at once on `s`, and prints what they were. */
const hashBothWays = (length: number, setUp: string) => `
import socket, hashlib, threading, random
${setUp}
def send():
    rest = ${length}
    while rest:
        part = chunk[:min(rest, len(chunk))]
        s.sendall(part)
        sent.update(part)
        rest -= len(part)
    s.shutdown(socket.SHUT_WR)
sent, received, total = hashlib.sha256(), hashlib.sha256(), 0
thread = threading.Thread(target=send)
thread.start()
while data := s.recv(1 << 20):
    received.update(data)
    total += len(data)
thread.join()
print(total, sent.hexdigest(), received.hexdigest())`

/** @param listening what is done to the socket that listens, `l` */
const passBothWays = async (length: number, listening = '') => {
  hasDropped = true
  const server = machine.python(
    'n2',
    hashBothWays(
      length,
      `chunk = random.Random(2).randbytes(999983)
l = socket.socket()
${listening}
l.bind(('0.0.0.0', 7000))
l.listen()
print('ready')
s, _ = l.accept()`,
    ),
  )
  await machine.until(() => server.said('ready'))
  const client = machine.python(
    'n1',
    hashBothWays(
      length,
      `chunk = random.Random(1).randbytes(999979)
s = socket.create_connection(('10.0.0.2', 7000))`,
    ),
  )
  await machine.deliverUntil(() => client.isOver && server.isOver)
  const [total, sent, received] = client.output.trim().split(' ')
  expect(total).toBe(`${length}`)
  expect(server.output).toBe(`ready\n${length} ${received} ${sent}\n`)
}

test('100 MB pass both ways at once, byte for byte', async () => {
  pair()
  await passBothWays(100_000_000)
})

test('a node without window scaling, and with small segments, gets and gives everything', async () => {
  pair()
  machine.run('n2', () => writeFileSync('/proc/sys/net/ipv4/tcp_window_scaling', '0'))
  await passBothWays(5_000_000, 'l.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)')
})

test('1,000 connections open, echo and close', async () => {
  pair()
  await startServer(
    `require('net').createServer(s => s.pipe(s)).listen({ port: 7000, backlog: 1000 }, () => console.log('ready'))`,
  )
  const client = machine.node(
    'n1',
    `let echoed = 0
     for (let i = 0; i < 1000; i++) {
       const socket = require('net').connect(7000, '10.0.0.2', () => socket.write('hello ' + i))
       socket.on('data', data => {
         if (String(data) === 'hello ' + i) echoed += 1
         socket.end()
       })
     }
     process.on('exit', () => console.log(echoed))`,
  )
  const delivered: Message[] = []
  await machine.deliverUntil(() => client.isOver && machine.network.messages.all().length === 0, delivered)
  expect(client.output).toBe('1000\n')
  expect(delivered.length).toBe(6000)
  expect(new Set(labels(delivered)).size).toBe(6000)
  expect(machine.network.faults.connections()).toEqual([])
})

test('a connection that finds the backlog full is asked for again', async () => {
  pair()
  const server = machine.python(
    'n2',
    `
import socket
l = socket.socket()
l.bind(('0.0.0.0', 7000))
l.listen(1)
print('ready')
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(('0.0.0.0', 9000))
u.recv(1)
for i in range(4): l.accept()
print('accepted')`,
  )
  await machine.until(() => server.said('ready'))
  machine.node('n1', `for (let i = 0; i < 4; i++) require('net').connect(7000, '10.0.0.2')`)
  await machine.until(() => machine.network.messages.all().length === 4)
  for (const open of machine.network.messages.deliverable()) {
    machine.network.messages.deliver(open)
    machine.pump()
  }
  await machine.untilHeld(
    'n2→n1 #1 accept :7000',
    'n2→n1 #2 accept :7000',
    'n1→n2 #5 open :7000',
    'n1→n2 #6 open :7000',
  )
  machine.network.attachments.virtualHost('control', '10.0.1.1').sendUdp('n2', 9000, Buffer.from('x'))
  await machine.deliverUntil(() => server.said('accepted'))
})

test('the acceptor sees source ports that are the same in every execution', async () => {
  pair()
  const server = await startServer(
    `require('net').createServer(s => console.log(s.remotePort)).listen(7000, () => console.log('ready'))`,
  )
  machine.node('n1', `for (let i = 0; i < 3; i++) require('net').connect(7000, '10.0.0.2')`)
  await machine.deliverUntil(() => server.output.split('\n').length === 5)
  expect(server.output).toBe('ready\n49152\n49153\n49154\n')
})

test('a cut holds a connection in one direction, and healing lets it go on', async () => {
  const { client } = await connected(
    `socket.on('data', () => socket.write('pong'))`,
    `
    socket.on('data', data => console.log(String(data))); socket.write('ping')`,
  )
  await machine.untilHeld('n1→n2 #2 4 bytes :7000 "ping"')
  machine.network.faults.cut([['n2', 'n1']])
  await machine.deliverUntil(() => machine.network.messages.all().some(message => message.from === 'n2'))
  expect(labels(machine.network.messages.all())).toEqual(['n2→n1 #2 4 bytes :7000 "pong"'])
  expect(machine.network.messages.deliverable()).toEqual([])
  machine.network.faults.heal()
  await machine.deliverUntil(() => client.said('pong'))
})

test('after a crash that nobody saw, the restarted node answers with an abort', async () => {
  const { client } = await connected('', `setTimeout(() => socket.write('hello?'), 100)`)
  machine.network.attachments.detach('n2', 'nothing')
  await machine.until(() => machine.network.messages.all().length === 1)
  expect(labels(machine.network.messages.all())).toEqual(['n1→n2 #2 6 bytes :7000 "hello?"'])
  expect(machine.network.messages.deliverable()).toEqual([])
  await machine.restartNode('n2')
  machine.network.messages.deliver((await machine.untilHeld('n1→n2 #2 6 bytes :7000 "hello?"'))[0]!)
  machine.network.messages.deliver((await machine.untilHeld('n2→n1 #2 abort :7000'))[0]!)
  await machine.until(() => client.said('ECONNRESET'))
})

test('a crash that peers see resets their connections, after what was sent before', async () => {
  const { client } = await connected(
    `socket.write('last words')`,
    `socket.on('data', data => console.log(String(data)))`,
  )
  const [words] = await machine.untilHeld('n2→n1 #2 10 bytes :7000 "last words"')
  machine.network.attachments.detach('n2', 'reset')
  machine.network.messages.deliver(words!)
  // A reset that comes before a program has read may be all that it sees.
  await machine.until(() => client.said('last words'))
  machine.network.messages.deliver((await machine.untilHeld('n2→n1 #3 abort :7000'))[0]!)
  await machine.until(() => client.said('ECONNRESET'))
  expect(client.output).toBe('connected\nlast words\nECONNRESET\n')
  expect(machine.network.messages.all()).toEqual([])
})

test('the namespaces leave nothing behind, and the thread is where it was', async () => {
  const home = readlinkSync('/proc/thread-self/ns/net')
  pair()
  expect(machine.run('n1', () => readlinkSync('/proc/thread-self/ns/net'))).not.toBe(home)
  expect(() =>
    machine.run('n1', () => {
      throw new Error('inside')
    }),
  ).toThrow('inside')
  expect(readlinkSync('/proc/thread-self/ns/net')).toBe(home)
})
