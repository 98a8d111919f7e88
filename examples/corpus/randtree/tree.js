/**
 * A node of RandTree, a random overlay tree of bounded degree (MaceMC, NSDI 2007, section 6; CrystalBall, TOCS 2010,
 * section 1.2): what it knows, and what it does with messages, lost peers and timers.
 *
 * Every node belongs to one tree. A node without a parent is the root of its own; the root with the smaller address wins
 * where two trees meet. A relation of parent and child lasts as long as the connection between them: whoever loses that
 * forgets the other, and is forgotten.
 */
import { randomInt } from 'node:crypto'
import { byAddress } from '../common/address.js'
import { bug } from '../common/bug.js'

const recoveryTimerStops = bug('randtree-recovery-timer')
const probesJoinInInit = bug('randtree-timer-safety')
const newRootFromAnybody = bug('randtree-newroot-any-sender')
const joinReplyIgnoredInInit = bug('randtree-joinreply-in-init')
const removeIgnoredWhileJoining = bug('randtree-remove-while-joining')
const joinSearchEndless = bug('randtree-join-loop')
const refusedRemoveForgotten = bug('randtree-lost-remove')
const rootOutlivesParent = bug('randtree-forceroot')
const siblingMayBeChild = bug('randtree-children-siblings')
const newRootMayBeChild = bug('randtree-root-as-child')
const siblingsOutliveRoot = bug('randtree-root-siblings')
const noTimerWithoutPeers = bug('randtree-self-join')

const childrenMax = Number(process.env.DEGREE ?? 2)
const joinAgainMs = 1000
const recoverAfterMs = 700

const smaller = (a, b) => byAddress(a, b) < 0

export class Tree {
  /** `init` until it is told to join. While it is `joining` it is the root of its own tree, and looks for a better one. */
  state = 'init'
  /** The own address where there is no other root. */
  root
  /** The own address of a root; `null` in `init` and while joining. */
  parent = null
  /** The number of the request by which the parent took this node. */
  #request
  /** The number of the request of each child. */
  children = new Map()
  /** The other children of the root, at a child of the root. */
  siblings = new Set()
  /** Whom to ask for a place, and to compare roots with. */
  peers
  /** How many ForceRoot named another root than this node's. */
  mismatches = 0

  #self
  #send
  #close
  #changed
  #joinTimer
  #recoveryTimer
  #asked = 0
  #probed = 0
  #triesLeft = 0

  /** `send(peer, message)` is false where it is refused; `close(peer)` ends the connection; `changed()` is called after all. */
  constructor(self, peers, { send, close, changed }) {
    this.#self = self
    this.root = self
    this.peers = [...peers]
    this.#send = send
    this.#close = close
    this.#changed = changed
  }

  get isRoot() {
    return this.state === 'joined' && this.parent === this.#self
  }

  get isRecovering() {
    return this.#recoveryTimer !== undefined
  }

  /** The application wants this node to be part of the tree. */
  join() {
    if (this.state !== 'init') return
    if (this.peers.length > 0 || !noTimerWithoutPeers) this.#recoverLater()
    this.#joinUnder(this.#nextPeer())
    this.#changed()
  }

  onMessage(message, from) {
    if (this.state === 'init') this.#whileInit(message, from)
    else this.#handlers[message.type]?.(message, from)
    this.#changed()
  }

  /** Whatever was sent before the restart is nothing to this run: a place that was kept for it is given back. */
  #whileInit(message, from) {
    const { type, request } = message
    if (type === 'JoinReply' && !joinReplyIgnoredInInit) this.#tell(from, { type: 'Remove', request })
    if (probesJoinInInit && (type === 'Probe' || type === 'ProbeJoin')) this.#handlers[type](message, from)
  }

  onLost(peer) {
    this.#forget(peer)
    this.#changed()
  }

  #forget(peer) {
    this.#forgetChild(peer)
    if (peer === this.parent) this.#leaveParent()
  }

  #after(milliseconds, act) {
    return setTimeout(() => {
      act()
      this.#changed()
    }, milliseconds)
  }

  #handlers = {
    Join: (message, from) => this.#onJoin(message, from),
    JoinReply: (message, from) => this.#onJoinReply(message, from),
    ForceRoot: message => this.#onForceRoot(message),
    Remove: ({ request }, from) => this.#onRemove(request, from),
    NewRoot: (message, from) => this.#onNewRoot(message, from),
    UpdateSibling: ({ siblings }, from) => this.#onUpdateSibling(siblings, from),
    Probe: ({ root }) => this.#onProbe(root),
    ProbeJoin: ({ root }) => this.#onProbeJoin(root),
  }

  // Looking for a place

  /** Asks `peer`, and then the others in turn, until one answers or all were asked. */
  #joinUnder(peer) {
    this.state = 'joining'
    this.parent = null
    this.#triesLeft = Math.max(this.peers.length, 1)
    this.#ask(peer)
  }

  #ask(peer) {
    clearTimeout(this.#joinTimer)
    if (peer === undefined || this.#triesLeft === 0) return this.#becomeRoot()
    this.#triesLeft -= 1
    this.#joinTimer = this.#after(joinAgainMs, () => this.#ask(this.#nextPeer()))
    this.#tell(peer, { type: 'Join', joiner: this.#self, request: randomInt(2 ** 31) })
  }

  /** The next peer in turn that is not a child, or `undefined`. */
  #nextPeer() {
    for (let tries = 0; tries < this.peers.length || joinSearchEndless; tries++) {
      const peer = this.peers[this.#asked++ % this.peers.length]
      if (!this.children.has(peer)) return peer
    }
  }

  #becomeRoot() {
    clearTimeout(this.#joinTimer)
    this.state = 'joined'
    this.parent = this.#self
    this.#setRoot(this.#self)
  }

  #leaveParent() {
    if (this.parent === this.root) this.siblings.clear()
    if (!rootOutlivesParent) this.#setRoot(this.#self)
    this.#joinUnder(this.#nextPeer())
  }

  #onJoinReply({ root, request, siblings }, from) {
    const isAwaited = this.state === 'joining' || from === this.parent
    if (!isAwaited || root === this.#self) return this.#tell(from, { type: 'Remove', request })
    if (this.children.has(from)) return this.#dropChild(from)
    clearTimeout(this.#joinTimer)
    this.state = 'joined'
    this.parent = from
    this.#request = request
    this.#dropChild(root)
    this.#setRoot(root)
    this.#setSiblings(siblings)
  }

  /** The root that was asked will join this node. */
  #onForceRoot({ root }) {
    if (this.state !== 'joining') return
    if (root !== this.root) this.mismatches += 1
    else this.#becomeRoot()
  }

  // Giving a place

  /** A request goes up to the root at once, and down from parent to child: from anybody else it is of another tree. */
  #onJoin({ joiner, request, isPushed }, from) {
    if (joiner === this.#self) return this.#onOwnJoin()
    if (isPushed && from !== this.parent) return
    if (isPushed) this.#place(joiner, request)
    else if (this.parent !== null && !this.isRoot) this.#tell(this.root, { type: 'Join', joiner, request })
    else if (this.isRoot && smaller(joiner, this.#self)) this.#handOver(joiner)
    else this.#place(joiner, request)
  }

  /** Whoever was asked is in this node's own tree. */
  #onOwnJoin() {
    if (this.state === 'joining') this.#becomeRoot()
  }

  #handOver(joiner) {
    this.#tell(joiner, { type: 'ForceRoot', root: joiner })
    if (!joinSearchEndless) this.#meet(joiner)
    this.#joinUnder(joiner)
  }

  #meet(peer) {
    if (!this.peers.includes(peer)) this.peers.push(peer)
  }

  /** Takes the joiner as a child, or has a random child do so. */
  #place(joiner, request) {
    if (joiner === this.root) return
    if (this.children.size < childrenMax) return this.#accept(joiner, request)
    const others = [...this.children.keys()].filter(child => child !== joiner)
    this.#tell(others[randomInt(others.length)], { type: 'Join', joiner, request, isPushed: true })
  }

  #accept(joiner, request) {
    this.children.set(joiner, request)
    this.siblings.delete(joiner)
    this.#tell(joiner, { type: 'JoinReply', root: this.root, request, siblings: this.#siblingsOf(joiner) })
    this.#tellSiblings(joiner)
  }

  // Parent and children

  /** A child that has another parent. A request that this node has answered again meanwhile is not meant. */
  #onRemove(request, from) {
    if (removeIgnoredWhileJoining && this.state === 'joining') return
    if (this.children.get(from) === request) this.#forgetChild(from)
  }

  #forgetChild(child) {
    if (this.children.delete(child)) this.#tellSiblings()
  }

  /** Ends the relation to what cannot be a child any more. Where it thinks otherwise it loses its parent. */
  #dropChild(peer) {
    if (!this.children.has(peer)) return
    this.#close(peer)
    this.#forgetChild(peer)
  }

  #onNewRoot({ root, siblings }, from) {
    if (from !== this.parent && !newRootFromAnybody) return
    if (root === this.#self) return this.#leaveLoop()
    if (!newRootMayBeChild) this.#dropChild(root)
    this.#setRoot(root)
    if (!siblingsOutliveRoot) this.#setSiblings(siblings)
  }

  /** Told by its parent that it is the root, a node sits in a loop. */
  #leaveLoop() {
    this.#tell(this.parent, { type: 'Remove', request: this.#request })
    this.#leaveParent()
  }

  #setRoot(root) {
    if (root === this.root) return
    this.root = root
    for (const child of this.children.keys())
      this.#tell(child, { type: 'NewRoot', root, siblings: this.#siblingsOf(child) })
  }

  #siblingsOf(child) {
    return this.root === this.#self ? [...this.children.keys()].filter(each => each !== child) : []
  }

  /** Tells the children of a root who the others are. */
  #tellSiblings(newest) {
    if (this.root !== this.#self) return
    for (const child of this.children.keys())
      if (child !== newest) this.#tell(child, { type: 'UpdateSibling', siblings: this.#siblingsOf(child) })
  }

  #onUpdateSibling(siblings, from) {
    if (from === this.parent && from === this.root) this.#setSiblings(siblings)
  }

  /** What the root says of its children is newer than what this node knows of its own. */
  #setSiblings(siblings) {
    this.siblings = new Set(siblings)
    if (!siblingMayBeChild) for (const sibling of siblings) this.#dropChild(sibling)
  }

  // Recovery

  #recoverLater() {
    this.#recoveryTimer = this.#after(recoverAfterMs, () => this.#recover())
  }

  /** Finds out who vanished without a word, and whether there is another tree. */
  #recover() {
    this.#recoveryTimer = undefined
    if (recoveryTimerStops && this.state === 'joining') return
    this.#recoverLater()
    if (this.state === 'joining') return
    const relatives = new Set(this.children.keys())
    if (!this.isRoot) relatives.add(this.parent)
    for (const relative of relatives) this.#tell(relative, { type: 'Ping' })
    const others = this.peers.filter(peer => !relatives.has(peer))
    if (others.length > 0) this.#tell(others[this.#probed++ % others.length], { type: 'Probe', root: this.root })
  }

  /** Two trees have met: the greater root joins the smaller. */
  #onProbe(root) {
    if (root === this.root) return
    const [winner, loser] = [root, this.root].sort(byAddress)
    if (loser === this.#self) this.#onProbeJoin(winner)
    else this.#tell(loser, { type: 'ProbeJoin', root: winner })
  }

  #onProbeJoin(root) {
    if (this.state === 'joining' || this.root !== this.#self || !smaller(root, this.#self)) return
    this.#meet(root)
    this.#joinUnder(root)
  }

  /** A peer that takes no more messages is lost. */
  #tell(peer, message) {
    if (this.#send(peer, message)) return
    if (refusedRemoveForgotten && message.type === 'Remove') return
    this.#close(peer)
    this.#forget(peer)
  }
}
