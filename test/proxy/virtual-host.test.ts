import { buffer, text } from 'node:stream/consumers'
import { Client } from 'undici'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReceivedDatagram, VirtualHost } from '../../proxy/virtual-host.ts'
import { Machine } from './machine.ts'

let machine: Machine
let client: VirtualHost

beforeEach(() => {
  machine = new Machine()
  machine.addNode('n1', '10.0.0.1')
  client = machine.network.attachments.virtualHost('client', '10.0.1.1')
})

afterEach(() => machine.close())

const start = async (source: string) => {
  const program = machine.node('n1', source)
  await machine.until(() => program.said('ready'))
  return program
}

/** Pumps while `work` goes on. */
const during = async <T>(work: Promise<T>): Promise<T> => {
  let isDone = false
  const mark = () => {
    isDone = true
  }
  work.then(mark, mark)
  await machine.until(() => isDone)
  return work
}

const echo = `require('net').createServer(s => s.pipe(s)).listen(7000, () => console.log('ready'))`

test('undici speaks to a node, over one connection that is kept alive', async () => {
  const server = await start(`let connections = 0
    require('http').createServer((request, response) => request.pipe(response))
      .on('connection', () => console.log('connection', ++connections)).listen(7000, () => console.log('ready'))`)
  const http = new Client('http://n1:7000', {
    connect: (_options, done) => {
      const socket = client.connect('n1', 7000)
      socket.once('error', error => done(error, null))
      // undici asks no more of its socket than a stream has, though its types do.
      socket.once('connect', () => done(null, socket as never))
    },
  })
  for (const body of ['first', 'second', 'x'.repeat(3_000_000)]) {
    const response = await during(http.request({ path: '/', method: 'POST', body }))
    expect(response.statusCode).toBe(200)
    expect(await during(response.body.text())).toBe(body)
  }
  await during(http.close())
  expect(server.output).toBe('ready\nconnection 1\n')
  expect(machine.network.messages.all()).toEqual([])
})

test('a connection to a closed port fails as with net.connect', async () => {
  const socket = client.connect('n1', 7000)
  const error = await during(new Promise(resolve => socket.once('error', resolve)))
  expect(error).toMatchObject({ code: 'ECONNREFUSED', syscall: 'connect', address: '10.0.0.1', port: 7000 })
})

test('large data pass both ways while the other side is slow', async () => {
  await start(echo)
  const sent = Buffer.alloc(20_000_000, Buffer.from(Array.from({ length: 251 }, (_, i) => i)))
  const socket = client.connect('n1', 7000)
  socket.end(sent)
  expect((await during(buffer(socket))).equals(sent)).toBe(true)
})

test('the end of a stream is seen on both sides', async () => {
  const server = await start(
    `require('net').createServer(s => s.on('end', () => console.log('end')).end('bye')).listen(7000, () => console.log('ready'))`,
  )
  expect(await during(text(client.connect('n1', 7000)))).toBe('bye')
  await machine.until(() => server.said('end'))
})

test('a node that resets or dies fails the stream', async () => {
  await start(
    `require('net').createServer(s => s.on('data', () => s.resetAndDestroy())).listen(7000, () => console.log('ready'))`,
  )
  const failure = async (text: string) => {
    const socket = client.connect('n1', 7000)
    await during(new Promise(resolve => socket.once('connect', resolve)))
    socket.write(text)
    const failed = new Promise<NodeJS.ErrnoException>(resolve => socket.once('error', resolve))
    if (text === '') machine.network.attachments.detach('n1', 'nothing')
    return (await during(failed)).code
  }
  expect(await failure('reset me')).toBe('ECONNRESET')
  expect(await failure('')).toBe('ECONNRESET')
  expect(() => client.connect('n1', 7000)).toThrow('host n1 is down')
})

test('a stream that is destroyed unread resets; read, it closes', async () => {
  const server = await start(`require('net').createServer(s => {
    s.write('x'); s.on('error', error => console.log(error.code)).on('end', () => console.log('end'))
  }).listen(7000, () => console.log('ready'))`)
  const unread = client.connect('n1', 7000)
  await machine.until(() => unread.readableLength === 1)
  unread.destroy()
  await machine.until(() => server.said('ECONNRESET'))
  const read = client.connect('n1', 7000).resume()
  await during(new Promise(resolve => read.once('data', resolve)))
  read.destroy()
  await machine.until(() => server.said('end'))
})

test('datagrams pass at once, both ways', async () => {
  await start(`const socket = require('dgram').createSocket('udp4')
    socket.on('message', (message, from) => socket.send('re: ' + message, from.port, from.address))
      .bind(7000, () => console.log('ready'))`)
  const received: ReceivedDatagram[] = []
  client.onDatagram(datagram => received.push(datagram))
  client.sendUdp('n1', 7000, Buffer.from('hello'))
  client.sendUdp('n1', 7000, Buffer.from('again'), 5000)
  await machine.until(() => received.length === 2)
  expect(received).toEqual([
    { from: 'n1', sourcePort: 7000, port: 49152, payload: Buffer.from('re: hello') },
    { from: 'n1', sourcePort: 7000, port: 5000, payload: Buffer.from('re: again') },
  ])
  expect(machine.network.messages.all()).toEqual([])
})

test('a node cannot connect to a virtual host', async () => {
  const program = machine.node('n1', `require('net').connect(80, '10.0.1.1').on('error', e => console.log(e.code))`)
  await machine.until(() => program.said('ECONNREFUSED'))
})

test('names and addresses are unique', () => {
  expect(() => machine.network.attachments.virtualHost('n1', '10.0.1.2')).toThrow(
    'cannot add host n1 at 10.0.1.2: n1 is at 10.0.0.1',
  )
  expect(() => machine.network.attachments.virtualHost('other', '10.0.0.1')).toThrow(
    'cannot add host other at 10.0.0.1: n1 is at 10.0.0.1',
  )
  expect(() => machine.network.attachments.virtualHost('other', '10.0.0')).toThrow(
    'expected an IPv4 address like 10.0.0.1, found "10.0.0"',
  )
  expect(() => client.connect('n9', 80)).toThrow('no host n9; there are: n1, client')
})
