import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Message } from '../../proxy/message.ts'
import { Machine, type Program } from './machine.ts'

let machine: Machine
let receiver: Program

const receive = `
const socket = require('dgram').createSocket('udp4')
socket.on('message', (message, from) => {
  console.log(String(message))
  if (String(message) === 'ping') socket.send('pong', from.port, from.address)
}).bind(7000, () => console.log('ready'))`

const send = (...texts: string[]) => `
const socket = require('dgram').createSocket('udp4')
socket.on('message', message => console.log(String(message))).on('error', error => console.log(error.code))
socket.connect(7000, '10.0.0.2', () => { for (const text of ${JSON.stringify(texts)}) socket.send(text) })`

beforeEach(async () => {
  machine = new Machine()
  machine.addNode('n1', '10.0.0.1')
  machine.addNode('n2', '10.0.0.2')
  receiver = machine.node('n2', receive)
  await machine.until(() => receiver.said('ready'))
})

afterEach(() => machine.close())

const three = ['n1→n2 #1 1 byte :7000 "a"', 'n1→n2 #2 1 byte :7000 "b"', 'n1→n2 #3 1 byte :7000 "c"']
const labels = (messages: readonly Message[]) => messages.map(message => message.label)

test('datagrams are delivered in any order, dropped, and duplicated', async () => {
  machine.node('n1', send('a', 'b', 'c'))
  const [a, b, c] = await machine.untilHeld(...three)
  machine.network.messages.deliver(c!)
  const copy = machine.network.messages.duplicate(a!)
  expect(copy).toEqual({ ...a, ordinal: 4, label: 'n1→n2 #4 1 byte :7000 "a"' })
  machine.network.messages.deliver(a!)
  machine.network.messages.drop(b!)
  machine.network.messages.deliver(copy)
  expect(machine.network.messages.all()).toEqual([])
  await machine.until(() => receiver.output === 'ready\nc\na\na\n')
})

test('what is not in flight is refused with its name', async () => {
  machine.node('n1', send('a', 'b', 'c'))
  const [a] = await machine.untilHeld(...three)
  machine.network.messages.drop(a!)
  const message = 'n1→n2 #1 1 byte :7000 "a": no such datagram is in flight'
  expect(() => machine.network.messages.deliver(a!)).toThrow(`cannot deliver ${message}`)
  expect(() => machine.network.messages.drop(a!)).toThrow(`cannot drop ${message}`)
  expect(() => machine.network.messages.duplicate(a!)).toThrow(`cannot duplicate ${message}`)
})

test("an answer goes back to the asker's random port, which no label shows", async () => {
  const sender = machine.node('n1', send('ping'))
  machine.network.messages.deliver((await machine.untilHeld('n1→n2 #1 4 bytes :7000 "ping"'))[0]!)
  const [pong] = await machine.untilHeld('n2→n1 #1 4 bytes :7000 "pong"')
  expect(pong!.port).toBe(7000)
  machine.network.messages.deliver(pong!)
  await machine.until(() => sender.output === 'pong\n')
})

test('a cut loses one direction, in flight and sent meanwhile', async () => {
  machine.node('n1', send('a', 'b', 'c'))
  await machine.untilHeld(...three)
  machine.network.faults.cut([['n1', 'n2']])
  expect(machine.network.messages.all()).toEqual([])
  const late = machine.node('n1', `${send('d')}; setTimeout(() => console.log('sent'), 100)`)
  const back = machine.node('n2', send('x').replace('10.0.0.2', '10.0.0.1'))
  await machine.untilHeld('n2→n1 #1 1 byte :7000 "x"')
  await machine.until(() => late.said('sent'))
  machine.network.faults.heal()
  machine.network.messages.deliver(machine.network.messages.deliverable()[0]!)
  const [unreachable] = await machine.untilHeld('n1→n2 #4 unreachable :7000')
  expect(back.output).toBe('')
  machine.network.messages.deliver(unreachable!)
  await machine.until(() => back.said('ECONNREFUSED'))
  expect(labels(machine.network.messages.all())).toEqual([])
})

test('a datagram to a host that is down waits for it', async () => {
  machine.network.attachments.detach('n2', 'reset')
  machine.node('n1', send('a'))
  await machine.until(() => machine.network.messages.all().length === 1)
  expect(machine.network.messages.deliverable()).toEqual([])
  expect(() => machine.network.messages.deliver(machine.network.messages.all()[0]!)).toThrow(
    'cannot deliver n1→n2 #1 1 byte :7000 "a": the way is cut or the host is down',
  )
  await machine.restartNode('n2')
  const restarted = machine.node('n2', receive)
  await machine.until(() => restarted.said('ready'))
  machine.network.messages.deliver((await machine.untilHeld('n1→n2 #1 1 byte :7000 "a"'))[0]!)
  await machine.until(() => restarted.said('a\n'))
})

test('a datagram to an unknown address is answered: nobody listens', async () => {
  const sender = machine.node('n1', send('a').replace('10.0.0.2', '10.0.0.99'))
  await machine.until(() => sender.said('ECONNREFUSED'))
  expect(machine.network.ignored().unknownDatagrams).toBe(1)
})

test('the longest datagram passes whole', async () => {
  machine.node('n1', `require('dgram').createSocket('udp4').send(Buffer.alloc(65507, 'x'), 7000, '10.0.0.2')`)
  await machine.until(() => machine.network.messages.all().length === 1)
  machine.network.messages.deliver(machine.network.messages.all()[0]!)
  await machine.until(() => receiver.output === `ready\n${'x'.repeat(65507)}\n`)
})

test('two datagrams that enter before the node runs are found in one turn', async () => {
  machine.node('n1', send('a', 'b', 'c'))
  for (const message of await machine.untilHeld(...three)) machine.network.messages.deliver(message)
  await machine.until(() => receiver.output === 'ready\na\nb\nc\n')
})
