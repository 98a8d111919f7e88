/**
 * A Raft node: liferaft as published, its log in memory. What carries its packets is added by whoever imports this.
 *
 * The first argument is its own name, the others name the whole cluster: `n1 n1=127.0.0.1:7000 n2=127.0.0.2:7000 …`. It
 * logs its state as a line of JSON whenever that changes.
 */
import LifeRaft from 'liferaft'
import Log from 'liferaft/log.js'
import memdown from 'memdown'

const [name, ...members] = process.argv.slice(2)
const cluster = new Map(members.map(member => member.split('=')))
if (!cluster.has(name)) {
  console.error('usage: NAME NAME=HOST:PORT ..., with the own name among the others')
  process.exit(64)
}

export { name }
export const peers = [...cluster.keys()].filter(peer => peer !== name)

export const endpoint = member => {
  const [host, port] = cluster.get(member).split(':')
  return { host, port: Number(port) }
}

export const raft = new LifeRaft(name, { Log, adapter: memdown })

const committed = []
let logged

/** Logs the state when the turn that changed it is over: liferaft changes its fields one by one. */
export const logState = () =>
  queueMicrotask(() => {
    const { state, term, leader, votes } = raft
    const role = LifeRaft.states[state].toLowerCase()
    const line = JSON.stringify({ role, term, leader, votedFor: votes.for, committed })
    if (line !== logged) console.log(line)
    logged = line
  })

for (const event of ['state change', 'term change', 'leader change', 'vote']) raft.on(event, logState)
raft.on('commit', command => {
  committed.push(command)
  logState()
})

/** What is no packet of liferaft's is a client's: a leader appends the command to its log. */
raft.on('rpc', async ({ command }, answer) => {
  const isLeader = raft.state === LifeRaft.LEADER
  if (isLeader) await raft.command(command)
  answer({ type: isLeader ? 'appended' : 'refused', term: raft.term })
})
