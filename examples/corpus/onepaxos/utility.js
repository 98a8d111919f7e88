/**
 * PaxosUtility: a log of changes of the roles that all members agree on, each entry by a Paxos of its own.
 *
 *     { type: 'LeaderChange', leader }             a member takes over
 *     { type: 'AcceptorChange', acceptor, value }  the leader replaces the acceptor, to which it has proposed `value`
 */
import { Paxos } from '../paxos/paxos.js'

/**
 * The roles that the entries up to `epoch` make: the leader, and the epoch `since` which it leads; the acceptor; and the
 * value that leaders are bound to, if any.
 */
export const firstRoles = (leader, acceptor) => ({ epoch: 0, leader, since: 0, acceptor, value: null })

export class Utility {
  roles
  #slots = new Map()
  #open

  /** `open(slot)` returns the `send`, `save` and `saved` of that slot's Paxos. */
  constructor({ self, members, open }) {
    this.roles = firstRoles(members[0], members[1])
    this.#open = slot => new Paxos({ self, members, ...open(slot) })
  }

  /** For a log. */
  get state() {
    return Object.fromEntries([...this.#slots].map(([slot, paxos]) => [slot, paxos.state]))
  }

  /** Tries to have an entry follow those that are known here. Another one may come in its place. */
  propose(entry) {
    this.#slot(this.roles.epoch + 1).propose(entry)
    this.#apply()
  }

  receive(slot, message, sender) {
    this.#slot(slot).receive(message, sender)
    this.#apply()
  }

  #slot(slot) {
    if (!this.#slots.has(slot)) this.#slots.set(slot, this.#open(slot))
    return this.#slots.get(slot)
  }

  /** Entries count in the order of their slots. */
  #apply() {
    const epoch = this.roles.epoch + 1
    const entry = this.#slots.get(epoch)?.chosen ?? null
    if (entry === null) return
    const { type, ...change } = entry
    this.roles = { ...this.roles, ...change, epoch, ...(type === 'LeaderChange' && { since: epoch }) }
    this.#apply()
  }
}
