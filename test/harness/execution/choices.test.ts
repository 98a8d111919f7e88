import { expect, test } from 'vitest'
import { Diverged } from '../../../checker/system/errors.ts'
import { readLabel } from '../../../checker/system/labels.ts'
import type { Choice } from '../../../checker/system/system.ts'
import { frames } from '../../../proxy/dissect/frames.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Says by datagram and by connection what the others say. */
const program = `
const [, , name, ...others] = process.argv
const udp = require('dgram').createSocket('udp4').bind(7000)
const say = word => { for (const other of others) udp.send(word, 7000, other) }
udp.on('message', word => console.log(String(word)))
require('net').createServer(socket => socket.on('data', () => {}).on('error', () => {})).listen(7001)
setInterval(() => say('vote term=4 & more'), 250)
setTimeout(() => require('net').connect(7001, others[0]).on('error', () => {}).write('GET / HTTP/1.1'), 100)
`

const partsOf = ({ kind, node, from, to, ordinal, connection, subject, numbers, joins }: Partial<Choice>): object => ({
  ...{ kind, node, from, to, ordinal, subject, numbers },
  // What a label of a message does not tell is its connection.
  ...(kind === 'reset' && { connection }),
  joins: joins?.map(partsOf),
})

/** Writes three lines at once, and says what comes of each read. */
const writer = `
const { connect, createServer } = require('node:net')
const [, , peer] = process.argv
if (peer) connect(7001, peer).on('connect', function () { this.write('set x 1\\nget x\\nend\\n') })
else createServer(socket => socket.on('data', bytes => console.log(JSON.stringify({ read: String(bytes) })))).listen(7001)
`

test('what was written together arrives at once, or once in two steps, by its frames', async () => {
  const cluster = clusterOf(
    {
      nodes: {
        b: { command: ['node', 'node.js'], listens: 7001 },
        a: { command: ['node', 'node.js', '{{b.address}}'] },
      },
      messages: frames.lines(),
      overlap: 0,
    },
    { 'node.js': writer },
  )
  const connect = async () => {
    await cluster.reset()
    for (const label of ['a→b #1 open :7001', 'b→a #1 accept :7001']) await take(cluster, label)
  }
  await connect()
  const whole = 'a→b #2 set x 1 | get x | end'
  const beginning = 'divide a→b #2 set x 1 | get x'
  expect(labelsOf(cluster)).toEqual([whole, 'divide a→b #2 set x 1', beginning])
  const choice = cluster.enabled().find(({ label }) => label === beginning)!
  expect(choice).toMatchObject({ kind: 'divide', node: 'b', whole: { kind: 'deliver', label: whole } })
  const { joins, whole: _, hash, ...told } = choice as Choice
  expect({ ...readLabel(beginning), connection: 1 }).toEqual({ ...told, label: undefined })
  const { delayMs } = await take(cluster, beginning)
  expect(delayMs).toBeUndefined()
  // The budget is spent, and what is left is whole.
  expect(labelsOf(cluster)).toEqual(['a→b #4 end'])
  await take(cluster, 'a→b #4 end')
  expect(stdoutOf(cluster, 'b').map(line => JSON.parse(line).read)).toEqual(['set x 1\nget x\n', 'end\n'])
  await connect()
  await take(cluster, whole)
  expect(stdoutOf(cluster, 'b').map(line => JSON.parse(line).read)).toEqual(['set x 1\nget x\nend\n'])
})

test('a schedule of a version that delivered each frame by itself says so where it ends', async () => {
  const { message } = new Diverged(3, 'a→b #2 set x 1', ['a→b #2 set x 1 | get x | end'])
  expect(message).toContain('each frame of `messages` was a message of its own')
  expect(new Diverged(3, 'a→b #2 set x', ['a→b #2 set x 1 | get x | end']).message).not.toContain('frame')
})

test('the parts of every choice of real processes are those that its label tells', async () => {
  const node = (name: string, ...others: string[]) => ({
    command: ['node', 'node.js', name, ...others.map(other => `{{${other}.address}}`)],
  })
  const cluster = clusterOf(
    {
      nodes: { a: node('a', 'b', 'c'), b: node('b', 'c', 'a'), c: node('c', 'a', 'b') },
      faults: { drop: 9, duplicate: 9, reset: 9, crash: 1, partition: 1 },
      clients: { ask: async () => {} },
    },
    { 'node.js': program },
  )
  await cluster.reset()
  const seen = new Map<string, Choice>()
  for (let step = 0; step < 40; step++) {
    const enabled = cluster.enabled()
    for (const choice of enabled) seen.set(choice.label, choice)
    await cluster.execute(
      enabled[(7 * step) % enabled.filter(({ kind }) => kind === 'deliver' || kind === 'timer').length]!,
    )
  }
  const kinds = new Set([...seen.values()].map(({ kind }) => kind))
  expect([...kinds].sort()).toEqual(
    ['client', 'crash', 'deliver', 'drop', 'duplicate', 'overlap', 'partition', 'reset', 'timer'].sort(),
  )
  for (const choice of seen.values()) {
    const { node = choice.node, ...told } = readLabel(choice.label)
    expect(partsOf({ ...told, node } as Choice)).toEqual(partsOf(choice))
  }
  const messages = [...seen.values()].filter(({ kind }) => kind === 'deliver')
  expect(messages.every(({ hash }) => hash !== undefined)).toBe(true)
  expect(new Set(messages.map(({ connection }) => connection))).toContain(1)
})
