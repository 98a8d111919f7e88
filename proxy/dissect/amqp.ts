import type { Dissector } from '../dissector.ts'
import { lengthLabel, shortLabel, textLabel } from '../short-label.ts'
import { type Cut, FrameReader } from './reader.ts'

/**
 * AMQP 0-9-1, as RabbitMQ speaks it: a frame each, with its channel, method, and the queue or key that it names.
 * https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf
 */
export const amqp = (): Dissector => ({ name: 'AMQP', stream: () => new AmqpReader(), datagram: lengthLabel })

const frameBytesMax = 2 ** 28
const protocolHeader = Buffer.from('AMQP\0\0\x09\x01')
const frameHeadBytes = 7
const frameEnd = 0xce

/** By the number of the class, and of the method in it. A method named `x` with 10 has `x-ok` with 11. */
const classes: Readonly<Record<number, readonly [name: string, methods: Readonly<Record<number, string>>]>> = {
  10: ['connection', { 10: 'start', 20: 'secure', 30: 'tune', 40: 'open', 50: 'close', 60: 'blocked' }],
  20: ['channel', { 10: 'open', 20: 'flow', 40: 'close' }],
  40: ['exchange', { 10: 'declare', 20: 'delete', 30: 'bind', 40: 'unbind' }],
  50: ['queue', { 10: 'declare', 20: 'bind', 30: 'purge', 40: 'delete', 50: 'unbind' }],
  60: [
    'basic',
    {
      10: 'qos',
      20: 'consume',
      30: 'cancel',
      40: 'publish',
      50: 'return',
      60: 'deliver',
      70: 'get',
      72: 'get-empty',
      80: 'ack',
      90: 'reject',
      100: 'recover-async',
      110: 'recover',
      120: 'nack',
    },
  ],
  85: ['confirm', { 10: 'select' }],
  90: ['tx', { 10: 'select', 20: 'commit', 30: 'rollback' }],
}

/** What comes before the names of a method: so many bytes, or a text and so many bytes; and how many names there are. */
const named: Readonly<Record<string, { readonly text?: true; readonly bytes: number; readonly names: number }>> = {
  'queue.declare': { bytes: 2, names: 1 },
  'queue.bind': { bytes: 2, names: 3 },
  'queue.delete': { bytes: 2, names: 1 },
  'queue.purge': { bytes: 2, names: 1 },
  'exchange.declare': { bytes: 2, names: 2 },
  'exchange.delete': { bytes: 2, names: 1 },
  'basic.consume': { bytes: 2, names: 1 },
  'basic.publish': { bytes: 2, names: 2 },
  'basic.get': { bytes: 2, names: 1 },
  'basic.deliver': { text: true, bytes: 9, names: 2 },
  'basic.get-ok': { bytes: 9, names: 2 },
  'basic.return': { bytes: 2, names: 3 },
  'connection.close': { bytes: 2, names: 1 },
  'channel.close': { bytes: 2, names: 1 },
}
/** Methods that begin with the number of a delivery. */
const numbered = new Set(['basic.ack', 'basic.nack', 'basic.reject'])

class AmqpReader extends FrameReader {
  protected override alike(): AmqpReader {
    return new AmqpReader()
  }

  protected override cut(held: Buffer): Cut {
    if (held[0] === protocolHeader[0]) return cutProtocol(held)
    if (held.length < frameHeadBytes) return held[0]! <= 8 ? { atLeast: frameHeadBytes } : 'malformed'
    const end = frameHeadBytes + held.readUInt32BE(3) + 1
    if (held[0]! > 8 || end > frameBytesMax) return 'malformed'
    if (held.length < end) return { atLeast: end }
    if (held[end - 1] !== frameEnd) return 'malformed'
    return { length: end, label: labelOf(held[0]!, held.readUInt16BE(1), held.subarray(frameHeadBytes, end - 1)) }
  }
}

const cutProtocol = (held: Buffer): Cut => {
  const length = Math.min(held.length, protocolHeader.length)
  if (!held.subarray(0, length).equals(protocolHeader.subarray(0, length))) return 'malformed'
  return length < protocolHeader.length ? { atLeast: protocolHeader.length } : { length, label: 'protocol 0-9-1' }
}

const labelOf = (type: number, channel: number, content: Buffer): string => {
  const where = channel === 0 ? '' : `${channel}: `
  if (type === 8) return 'heartbeat'
  if (type === 2) return `${where}header`
  if (type === 3) return shortLabel(`${where}body ${textLabel(content)}`)
  return shortLabel(`${where}${type === 1 ? methodLabel(content) : lengthLabel(content)}`)
}

const methodLabel = (content: Buffer): string => {
  if (content.length < 4) return lengthLabel(content)
  const [name, methods] = classes[content.readUInt16BE()] ?? [String(content.readUInt16BE()), {}]
  const number = content.readUInt16BE(2)
  const method = methods[number] ?? (methods[number - 1] === undefined ? number : `${methods[number - 1]}-ok`)
  const whole = `${name}.${method}`
  try {
    return [whole, ...detailsOf(whole, content.subarray(4))].join(' ')
  } catch (error) {
    // The method is shorter than its own fields say.
    if (!(error instanceof RangeError)) throw error
    return whole
  }
}

/** @throws RangeError if the method is too short */
const detailsOf = (method: string, content: Buffer): string[] => {
  if (numbered.has(method)) return [`#${content.readBigUInt64BE()}`]
  const fields = named[method]
  if (fields === undefined) return []
  let at = (fields.text ? 1 + content.readUInt8() : 0) + fields.bytes
  return Array.from({ length: fields.names }, () => {
    const end = at + 1 + content.readUInt8(at)
    const name = content.toString('utf8', at + 1, end)
    at = end
    return name === '' ? '""' : name
  })
}
