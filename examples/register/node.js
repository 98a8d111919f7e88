/**
 * A node of a replicated register, after Attiya, Bar-Noy, Dolev, "Sharing Memory Robustly in Message-Passing Systems", JACM
 * 1995, with many writers. Datagrams of JSON.
 *
 *     node node.js 127.0.0.1:7000 127.0.0.2:7000 127.0.0.3:7000
 *
 * Arguments: its own address, and those of the other nodes.
 *
 *     write value          from a client; answered when a majority has the value
 *     read                 from a client; answered with the newest value of a majority, when a majority has it
 *     ask, tell            to all nodes: which version do you have? and back
 *     store, stored        to all nodes: have this version, if it is newer than yours; and back
 *
 * A version is a value with the number of its write and the writer's name, which orders writes of one number.
 */
import { createSocket } from 'node:dgram'

/** The bug: a read does not see to it that a majority has what it returns. */
const returnsEarly = process.env.BUG === 'stale-read'

const [self, ...others] = process.argv.slice(2)
const majority = Math.floor((others.length + 1) / 2) + 1

let version = { number: 0, writer: '', value: 0 }

const isNewer = (one, other) => one.number > other.number || (one.number === other.number && one.writer > other.writer)

const keep = other => {
  if (isNewer(other, version)) version = other
}

/** Rounds that wait for a majority, by number. */
const rounds = new Map()

/** Sends a message to all other nodes; resolves with the answers of a majority, of which this node is one. */
const round = (message, own) =>
  new Promise(resolve => {
    const id = rounds.size
    rounds.set(id, { answers: [own], resolve })
    for (const other of others) send({ ...message, round: id }, other)
  })

const newest = async () => {
  const versions = await round({ type: 'ask' }, version)
  return versions.reduce((one, other) => (isNewer(other, one) ? other : one))
}

const store = async version => {
  keep(version)
  await round({ type: 'store', version })
}

const handlers = {
  write: async ({ value }, client) => {
    const { number } = await newest()
    await store({ number: number + 1, writer: self, value })
    send({ type: 'written' }, client)
  },

  read: async (_, client) => {
    const found = await newest()
    if (!returnsEarly) await store(found)
    send({ type: 'value', value: found.value }, client)
  },

  ask: ({ round }, node) => send({ type: 'tell', round, version }, node),

  store: ({ round, version }, node) => {
    keep(version)
    send({ type: 'stored', round }, node)
  },

  tell: ({ round, version }) => answer(round, version),
  stored: ({ round }) => answer(round),
}

const answer = (id, version) => {
  const { answers, resolve } = rounds.get(id)
  answers.push(version)
  if (answers.length === majority) resolve(answers)
}

const socket = createSocket('udp4')

const send = (message, to) => {
  const [host, port] = to.split(':')
  socket.send(JSON.stringify(message), Number(port), host)
}

socket.on('message', (bytes, { address, port }) => {
  const message = JSON.parse(bytes)
  handlers[message.type](message, `${address}:${port}`)
})

const [host, port] = self.split(':')
socket.bind(Number(port), host)
