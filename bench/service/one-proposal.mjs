// One of three members of a Paxos group: node one-proposal.mjs ADDRESS VALUE MEMBER...
// With a value it leads one round, after 100 ms. It logs its state as a line of JSON whenever that changes.
import { openDatagrams } from '../../examples/corpus/common/datagrams.js'
import { log } from '../../examples/corpus/common/log.js'
import { Paxos } from '../../examples/corpus/paxos/paxos.js'

const [self, value, ...members] = process.argv.slice(2)
const paxos = new Paxos({ self, members, send: (member, message) => datagrams.send(member, message), save: () => {} })
const logState = () => log({ self, ...paxos.state })
const lead = () => {
  paxos.propose(value)
  logState()
}

const datagrams = openDatagrams(self, {
  onMessage: (message, sender) => {
    paxos.receive(message, sender)
    logState()
  },
  onOpen: () => {
    if (value !== '') setTimeout(lead, 100)
    logState()
  },
})
