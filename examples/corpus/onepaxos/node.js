/**
 * A member of a 1Paxos group that agrees on one value.
 *
 *     node node.js 127.0.0.1:7000 disk/1 red 127.0.0.1:7000 127.0.0.2:7000 127.0.0.3:7000
 *
 * Arguments: its own address, the directory of its disk, the value that it would like, and the addresses of all members.
 * It logs its state as a line of JSON whenever that changes.
 */
import { randomInt } from 'node:crypto'
import { openDatagrams } from '../common/datagrams.js'
import { log } from '../common/log.js'
import { openDisk } from '../paxos/disk.js'
import { OnePaxos } from './onepaxos.js'

/** After a random while without a decision a member suspects others. */
const patienceMs = { min: 100, max: 1_000 }

const [self, directory, value, ...members] = process.argv.slice(2)

const disk = openDisk(directory)
const saved = disk.load() ?? {}
const member = new OnePaxos({
  self,
  members,
  value,
  send: (peer, message) => datagrams.send(peer, message),
  saved: key => saved[key],
  save: (key, state) => {
    saved[key] = state
    disk.save(saved)
  },
})

let timer
/** A member that has learned the decision rests. */
const rest = () => {
  clearTimeout(timer)
  if (member.chosen === null) timer = setTimeout(suspect, randomInt(patienceMs.min, patienceMs.max))
}

const logState = () => log({ self, ...member.state })

const suspect = () => {
  member.suspect()
  rest()
  logState()
}

const datagrams = openDatagrams(self, {
  onMessage: (message, sender) => {
    member.receive(message, sender)
    if (member.chosen !== null) rest()
    logState()
  },
  onOpen: () => {
    rest()
    logState()
  },
})
