/**
 * A member of a Paxos group that agrees on one value.
 *
 *     node node.js 127.0.0.1:7000 disk/1 red 127.0.0.1:7000 127.0.0.2:7000 127.0.0.3:7000
 *
 * Arguments: its own address, the directory of its disk, the value that it would like, and the addresses of all members.
 * It logs its state as a line of JSON whenever that changes.
 */
import { randomInt } from 'node:crypto'
import { openDatagrams } from '../common/datagrams.js'
import { log } from '../common/log.js'
import { openDisk } from './disk.js'
import { Paxos } from './paxos.js'

/** After a random while without a decision a member leads a round. */
const patienceMs = { min: 100, max: 1_000 }

const [self, directory, value, ...members] = process.argv.slice(2)

const disk = openDisk(directory)
const paxos = new Paxos({
  self,
  members,
  send: (member, message) => datagrams.send(member, message),
  save: disk.save,
  saved: disk.load(),
})

let timer
/** A member that has learned the decision rests. */
const rest = () => {
  clearTimeout(timer)
  if (paxos.chosen === null) timer = setTimeout(lead, randomInt(patienceMs.min, patienceMs.max))
}

const logState = () => log({ self, ...paxos.state })

const lead = () => {
  paxos.propose(value)
  rest()
  logState()
}

const datagrams = openDatagrams(self, {
  onMessage: (message, sender) => {
    paxos.receive(message, sender)
    if (paxos.chosen !== null) rest()
    logState()
  },
  onOpen: () => {
    rest()
    logState()
  },
})
