/**
 * A RandTree node. It joins a moment after its start, through the peers that it is given, and logs its state.
 *
 *     node node.js 127.0.0.1:7000 127.0.0.2:7000 127.0.0.3:7000
 */
import { log } from '../common/log.js'
import { openPeers } from '../common/peers.js'
import { Tree } from './tree.js'

const joinAfterMs = 100
/** So many messages may wait for a connection: the next one would be out of date by then. */
const unsentMax = 1

const [self, ...peers] = process.argv.slice(2)

const logState = () => {
  const { state, root, parent, children, siblings, peers, isRecovering, mismatches } = tree
  log({
    self,
    state,
    root,
    parent,
    children: [...children.keys()],
    siblings: [...siblings],
    peers,
    isRecovering,
    mismatches,
  })
}

const { send, close } = openPeers(self, {
  unsentMax,
  onMessage: (message, peer) => tree.onMessage(message, peer),
  onLost: peer => tree.onLost(peer),
  onOpen: () => {
    logState()
    setTimeout(() => tree.join(), joinAfterMs)
  },
})

const tree = new Tree(self, peers, { send, close, changed: logState })
