/**
 * 1Paxos for one decision, without sockets, clocks and disks (David, Guerraoui, Yabandeh, "Consensus Inside", 2014): one
 * leader and one acceptor, and an agreement on who they are only when one of them is thought to have failed.
 *
 *     prepare number            the leader asks the acceptor to serve none before it; `number` grows from leader to leader
 *     promise number accepted   the acceptor does, and says what it has accepted
 *     accept number value
 *     learn value               what the acceptor has accepted is chosen
 *
 * A value that the acceptor may have accepted has to survive it. The leader that it serves knows which one that is, and
 * puts it into the change of the acceptor; a leader that it does not serve must not replace it. Where leader and acceptor
 * fail together the members wait for one of them.
 */
import { bug } from '../common/bug.js'
import { firstRoles, Utility } from './utility.js'

const incrementsLate = bug('onepaxos-init')

/** The first member leads, the second one accepts. */
const initialRoles = members => {
  let next = 0
  const leader = members[next]
  const acceptor = incrementsLate ? members[next++] : members[++next]
  return firstRoles(leader, acceptor)
}

export class OnePaxos {
  #self
  #members
  #value
  #send
  #save
  #utility
  /** The roles as far as this member has heard; it asks nobody. */
  #roles
  /** As an acceptor: the number of the leader that it serves, and what it has accepted. */
  promised = -1
  accepted = null
  /** As a leader that the acceptor serves: what it has proposed. */
  proposed = null
  chosen = null

  /** As of `Paxos`, with the `value` that it would propose. What is saved has a key. */
  constructor({ self, members, value, send, save, saved }) {
    this.#self = self
    this.#members = members
    this.#value = value
    this.#send = send
    this.#save = state => save('acceptor', state)
    Object.assign(this, saved('acceptor'))
    this.#roles = initialRoles(members)
    this.#utility = new Utility({
      self,
      members,
      open: slot => ({
        send: (member, message) => send(member, { type: 'utility', slot, message }),
        save: state => save(`slot ${slot}`, state),
        saved: saved(`slot ${slot}`),
      }),
    })
  }

  get state() {
    const { promised, accepted, proposed, chosen } = this
    return { roles: this.#roles, promised, accepted, proposed, chosen, utility: this.#utility.state }
  }

  /** Nothing was decided for a while: whoever may do something about it does. */
  suspect() {
    const { leader, acceptor } = this.#roles
    if (leader === this.#self) this.#leadOn()
    else if (acceptor !== this.#self) this.#utility.propose({ type: 'LeaderChange', leader: this.#self })
    this.#followUtility()
  }

  receive(message, sender) {
    const { type, number, value } = message
    if (type === 'prepare') this.#onPrepare(number, sender)
    else if (type === 'promise') this.#onPromise(message, sender)
    else if (type === 'accept') this.#onAccept(number, value)
    else if (type === 'learn') this.chosen = value
    else if (type === 'utility') this.#utility.receive(message.slot, message.message, sender)
    this.#followUtility()
  }

  /** An acceptor that serves this leader, and still nothing is decided, has failed. */
  #leadOn() {
    const { acceptor } = this.#roles
    const backup = this.#members.find(member => member !== this.#self && member !== acceptor)
    if (this.proposed === null || backup === undefined) this.#prepare()
    else this.#utility.propose({ type: 'AcceptorChange', acceptor: backup, value: this.proposed })
  }

  #followUtility() {
    const { roles } = this.#utility
    if (roles.epoch === this.#roles.epoch) return
    this.#roles = roles
    this.proposed = null
    if (roles.leader === this.#self) this.#prepare()
  }

  #prepare() {
    this.#tell(this.#roles.acceptor, { type: 'prepare', number: this.#roles.since })
  }

  #onPrepare(number, leader) {
    if (number < this.promised) return
    this.promised = number
    this.#saveAcceptor()
    this.#tell(leader, { type: 'promise', number, accepted: this.accepted })
  }

  #onPromise({ number, accepted }, sender) {
    const { leader, since, acceptor, value } = this.#roles
    if (leader !== this.#self || number !== since || sender !== acceptor || this.proposed !== null) return
    this.proposed = value ?? accepted ?? this.#value
    this.#tell(acceptor, { type: 'accept', number, value: this.proposed })
  }

  #onAccept(number, value) {
    if (number < this.promised) return
    this.promised = number
    this.accepted = value
    this.#saveAcceptor()
    for (const member of this.#members) this.#tell(member, { type: 'learn', value })
  }

  /** Nobody may hear of a promise or an accepted value that a restart could undo. */
  #saveAcceptor() {
    this.#save({ promised: this.promised, accepted: this.accepted })
  }

  #tell(member, message) {
    if (member === this.#self) this.receive(message, member)
    else this.#send(member, message)
  }
}
