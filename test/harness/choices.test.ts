import { expect, test } from 'vitest'
import { readLabel } from '../../checker/labels.ts'
import type { Choice } from '../../checker/system.ts'
import { clusterOf } from './system.ts'

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
