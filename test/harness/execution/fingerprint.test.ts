import { describe, expect, test } from 'vitest'
import { jsonLines, type SystemDefinition } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, take } from '../system.ts'

const idle = ['node', '-e', 'setInterval(() => {}, 1e6)']
const three = { a: { command: idle }, b: { command: idle }, c: { command: idle } }

/** Takes the first enabled choice whose label begins so, for each. */
const follow = async (cluster: ReturnType<typeof clusterOf>, way: readonly string[]) => {
  for (const begin of way) {
    const found = labelsOf(cluster).find(label => label.replaceAll(/ #\d+/g, '').startsWith(begin))
    await take(cluster, found ?? begin)
  }
}

/** In which parts two states differ that are reached from one start; their fingerprints do so where any part does. */
const differences = async (
  definition: Omit<SystemDefinition, 'name'>,
  one: readonly string[],
  other: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<string[]> => {
  const cluster = clusterOf(definition, files)
  const seen = async (way: readonly string[]) => {
    expect(await cluster.reset()).toEqual([])
    await follow(cluster, way)
    return { fingerprint: cluster.fingerprint(), parts: cluster.parts() }
  }
  const [first, second] = [await seen(one), await seen(other)]
  expect(first.fingerprint).not.toBe(second.fingerprint)
  expect((await seen(one)).fingerprint).toBe(first.fingerprint)
  return Object.keys({ ...first.parts, ...second.parts }).filter(name => first.parts[name] !== second.parts[name])
}

const sends = `
const socket = require('dgram').createSocket('udp4')
socket.on('message', bytes => process.env.SAYS && console.log(JSON.stringify({ got: String(bytes) })))
socket.bind(4000)
for (const text of process.argv.slice(3)) socket.send(text, 4000, process.argv[2])
`

/** b says nothing of what it gets. */
const quiet = {
  nodes: { a: { command: ['node', 'sends.js', '{{b.address}}', 'x', 'y'] }, b: { command: ['node', 'sends.js'] } },
  state: jsonLines('stdout'),
}

// It connects, and then does nothing any more.
const connects = `
import socket, sys, time
time.sleep(1)
to = socket.create_connection((sys.argv[1], 7000))
time.sleep(1e6)
`
/** It lets all wait that ask. */
const listens = `
import socket, time
of = socket.socket()
of.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
of.bind(('', 7000))
of.listen()
time.sleep(1e6)
`
const backlog = {
  nodes: {
    a: { command: ['python3', 'connects.py', '{{b.address}}'] },
    b: { command: ['python3', 'listens.py'] },
    c: { command: ['python3', 'connects.py', '{{b.address}}'] },
  },
}
const programs = { 'connects.py': connects, 'listens.py': listens }
const bothConnect = ['a timer', 'c timer']

describe('a fingerprint tells two states apart', () => {
  test('that differ in a cut alone', async () => {
    const definition = { nodes: three, faults: { partition: 2 } }
    expect(await differences(definition, ['partition a'], ['partition b'])).toEqual(['cuts'])
    expect(await differences(definition, ['partition a'], ['cut a→b'])).toEqual(['cuts'])
    expect(await differences(definition, ['partition a', 'heal'], ['partition a'])).toEqual(['cuts'])
  })

  test('that differ in what is in flight, or in what may still be lost', async () => {
    const definition = { ...quiet, faults: { drop: 2 } }
    const files = { 'sends.js': sends }
    const same = ['drop a→b 1 byte :4000 "x"', 'a→b 1 byte :4000 "y"']
    expect(await differences(definition, same.slice(0, 1), ['drop a→b 1 byte :4000 "y"'], files)).toEqual([
      'messages in flight',
    ])
    const delivered = ['a→b 1 byte :4000 "x"', 'a→b 1 byte :4000 "y"']
    expect(await differences(definition, same, delivered, files)).toEqual(['budgets'])
  })

  test('that differ in what is seen of a node: its state, or its output where nobody looks', async () => {
    const ways = [
      ['a→b 1 byte :4000 "x"', 'a→b 1 byte :4000 "y"'],
      ['a→b 1 byte :4000 "y"', 'a→b 1 byte :4000 "x"'],
    ]
    const { a, b } = quiet.nodes
    const nodes = { a, b: { ...b, env: { SAYS: 'yes' } } }
    const files = { 'sends.js': sends }
    expect(await differences({ ...quiet, nodes }, ways[0]!, ways[1]!, files)).toEqual(['state of b'])
    expect(await differences({ nodes }, ways[0]!, ways[1]!, files)).toEqual(['output of b'])
  })

  test('that differ in which nodes are up', async () => {
    const found = await differences({ nodes: three, faults: { crash: 1 } }, ['crash a'], ['crash b'])
    expect(found).toContain('which nodes are up')
  })

  test('that differ in when timers fire, or in how far limited clocks are apart', async () => {
    const often = ['node', '-e', 'setInterval(() => {}, 100)']
    const both = ['node', '-e', 'setInterval(() => {}, 100); setInterval(() => {}, 150)']
    const state = jsonLines('stdout')
    expect(await differences({ nodes: { a: { command: both } }, state }, ['a timer'], [])).toEqual(['timers of a'])
    const nodes = { a: { command: often }, b: { command: often } }
    expect(await differences({ nodes, state, clocks: '1000ms' }, ['a timer'], ['b timer'])).toEqual([
      'how far clocks are apart',
    ])
  })

  test('that differ in the order in which connections wait to be accepted', async () => {
    const ask = (first: string, second: string) => [
      ...bothConnect,
      ...[first, second].map(name => `${name}→b open`),
      ...['a', 'c'].map(name => `b→${name} accept`),
    ]
    expect(await differences(backlog, ask('a', 'c'), ask('c', 'a'), programs)).toEqual(['connections'])
  })

  test('that differ in a connection of which one end knows nothing any more', async () => {
    const open = ['a timer', 'a→b open', 'b→a accept']
    const definition = { ...backlog, faults: { reset: 1 } }
    const found = await differences(
      definition,
      [...open, 'reset b silently'],
      [...open, 'reset b', 'b→a abort'],
      programs,
    )
    expect(found).toEqual(['connections'])
  })

  test('that differ in what clients did, or may still do', async () => {
    const client = (times: number) => ({ times, run: async () => undefined })
    const clients = { put: client(1), get: client(1) }
    const found = await differences({ nodes: three, clients }, ['client put'], ['client get'])
    expect(found).toEqual(['budgets', 'calls'])
  })

  test.each([
    ['reset a', 'reset b'],
    ['reset a', 'reset a silently'],
    ['crash a', 'crash b'],
    ['partition a', 'partition b'],
  ])('by the history of each node: %s, %s', async (one, other) => {
    const faults = { reset: 1, crash: 1, partition: 1 }
    await differences({ nodes: three, faults, fingerprint: 'history' }, [one], [other])
  })
})
