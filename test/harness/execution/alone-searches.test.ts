import { expect, test } from 'vitest'
import { check, type SystemCheckOptions } from '../../../checker/check.ts'
import { register } from '../../../checker/history/models.ts'
import { linearizable } from '../../../checker/history/property.ts'
import { always, eventually, history, type Property } from '../../../checker/system/property.ts'
import type { Verdict } from '../../../checker/verdict/verdict.ts'
import { type GlobalState, jsonLines, type SystemDefinition } from '../../../index.ts'
import { clusterOf } from '../system.ts'

/** Checks real processes by a search that executes each of them alone. */
const checkAlone = (
  definition: Omit<SystemDefinition, 'name' | 'properties'>,
  properties: Readonly<Record<string, Property<GlobalState>>>,
  program: string,
  options: SystemCheckOptions<GlobalState> = {},
): Promise<Verdict> => {
  const cluster = clusterOf({ state: jsonLines('stdout'), ...definition }, { 'program.js': program })
  return check(cluster, properties, { search: 'deviations', nodes: cluster.nodes, milliseconds: 40_000, ...options })
}

const node = (...args: string[]) => ({ command: ['node', 'program.js', ...args] })

// What is left out

const server = `
  let count = 0
  require('node:http').createServer((asked, response) => {
    console.log(JSON.stringify({ count: (count += 1) }))
    response.end(String(count))
  }).listen(8080)`

test.each(['local', 'consequence', 'deviations'] as const)(
  'a %s search says which clients it leaves out, and what it cannot evaluate',
  async search => {
    const { notes } = await checkAlone(
      {
        nodes: { a: { ...node(), listens: 8080 }, b: { ...node(), listens: 8080 } },
        clients: {
          ann: async ({ a }) => (await a!.http(8080, '/')).statusCode,
          bob: async ({ a, b }) => [(await a!.http(8080, '/')).statusCode, (await b!.http(8080, '/')).statusCode],
        },
      },
      {
        atomic: linearizable(register(0)) as unknown as Property<GlobalState>,
        grows: always(
          history<GlobalState, number>(
            (steps = 0) => steps + 1,
            (_, steps) => steps < 1_000,
          ),
        ),
      },
      server,
      { search, executions: 60 },
    )
    expect(notes).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^clients.bob uses several nodes, so its calls were left out of /),
        expect.stringMatching(/^atomic was not evaluated.*: nodes alone have no common history of operations$/),
        expect.stringMatching(/^grows was not evaluated.*: the states before this one are unknown$/),
      ]),
    )
    expect(notes.join('\n')).not.toContain('clients.ann')
  },
)

// Faults

/** The first asks once by a datagram, and the second counts. */
const datagrams = `
  const socket = require('node:dgram').createSocket('udp4')
  const { PEER } = process.env
  let got = 0
  socket.on('message', () => console.log(JSON.stringify({ got: (got += 1) })))
  socket.bind(5000, () => PEER && socket.send('hello', 5000, PEER))`

const asking = { nodes: { a: { ...node(), env: { PEER: 'b' } }, b: node() } }

const gotOf = ({ nodes }: GlobalState, name: string): number =>
  (nodes.find(each => each.name === name)!.state as { got: number } | undefined)?.got ?? 0

test('a datagram that arrives twice is found', async () => {
  const once = always<GlobalState>(state => gotOf(state, 'b') < 2)
  const verdict = await checkAlone({ ...asking, faults: { duplicate: 1 } }, { once }, datagrams)
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'once', discovery: { by: 'deviations' } })
  expect(verdict.schedule[0]).toMatch(/^duplicate a→b/)
})

test('a datagram that is lost leaves a state that looks dead, and the examination says that it is', async () => {
  const arrives = eventually<GlobalState>(state => gotOf(state, 'b') > 0)
  const verdict = await checkAlone({ ...asking, faults: { drop: 1 } }, { arrives }, datagrams)
  expect(verdict).toMatchObject({ verdict: 'violated', kind: 'liveness', discovery: { by: 'deviations' } })
  expect(verdict.schedule.join()).toMatch(/^drop a→b/)
})

test('a crash is found, and what a node does after it', async () => {
  // It counts its lives on its disk.
  const counting = `
    const fs = require('node:fs')
    const lives = 1 + Number(fs.existsSync('lives') && fs.readFileSync('lives', 'utf8'))
    fs.writeFileSync('lives', String(lives))
    console.log(JSON.stringify({ got: lives }))
    setInterval(() => {}, 1000)`
  const oneLife = always<GlobalState>(state => gotOf(state, 'b') < 2)
  const verdict = await checkAlone({ nodes: { a: node(), b: node() }, faults: { crash: 1 } }, { oneLife }, counting)
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'oneLife', discovery: { by: 'deviations' } })
  expect(verdict.schedule).toEqual(['crash b', 'restart b'])
})

test('a connection that is reset is noticed at both ends', async () => {
  const connecting = `
    const net = require('node:net')
    const { PEER } = process.env
    let got = 0
    const hold = socket => socket.on('error', () => {}).on('close', () => console.log(JSON.stringify({ got: (got += 1) })))
    if (PEER) hold(net.connect(5000, PEER))
    else net.createServer(hold).listen(5000)
    setInterval(() => {}, 3_600_000)`
  const neverBoth = always<GlobalState>(state => gotOf(state, 'a') + gotOf(state, 'b') < 2)
  const verdict = await checkAlone(
    { nodes: { a: { ...node(), env: { PEER: 'b' } }, b: { ...node(), listens: 5000 } }, faults: { reset: 1 } },
    { neverBoth },
    connecting,
  )
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'neverBoth', discovery: { by: 'deviations' } })
  expect(verdict.schedule.at(-1)).toMatch(/^reset /)
})

test('a message that does not arrive in time, as in a partition, is a timer that fires early', async () => {
  const impatient = `
    const socket = require('node:dgram').createSocket('udp4')
    const { PEER } = process.env
    const tell = got => console.log(JSON.stringify({ got }))
    socket.on('message', (bytes, { port, address }) => (PEER ? clearTimeout(waiting) : socket.send('yes', port, address)))
    const waiting = PEER && setTimeout(tell, 500, 1)
    socket.bind(5000, () => PEER && socket.send('there?', 5000, PEER))`
  const patient = always<GlobalState>(state => gotOf(state, 'a') === 0)
  const verdict = await checkAlone(asking, { patient }, impatient)
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'patient', discovery: { by: 'deviations' } })
})

test('two datagrams that enter a node at once are found', async () => {
  const turning = `
    const socket = require('node:dgram').createSocket('udp4')
    const { PEER } = process.env
    let inTurn = 0
    socket.on('message', () => {
      console.log(JSON.stringify({ got: (inTurn += 1) }))
      setImmediate(() => (inTurn = 0))
    })
    socket.bind(5000, () => PEER && socket.send('hello', 5000, PEER))`
  const apart = always<GlobalState>(state => gotOf(state, 'b') < 2)
  const nodes = { ...asking.nodes, c: asking.nodes.a }
  const verdict = await checkAlone({ nodes }, { apart }, turning)
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'apart', discovery: { by: 'deviations' } })
  expect(verdict.schedule).toEqual([expect.stringMatching(/^overlap a→b #1 .* & c→b #1 /)])
  expect(await checkAlone({ nodes, overlap: 0 }, { apart }, turning)).toMatchObject({ verdict: 'held' })
})
