/**
 * Paxos for one decision, without sockets, clocks and disks (Lamport, "Paxos Made Simple", 2001). Each member has all three
 * roles: it may lead rounds, it accepts values, and it learns what is chosen.
 *
 *     prepare round            a leader asks for promises (`Collect` in other descriptions)
 *     promise round accepted   an acceptor takes part in no lower round, and says what it has accepted last
 *     accept round value       the leader of a majority of promises asks for its value to be accepted (`Begin`)
 *     learn round value        an acceptor tells everybody what it has accepted
 *
 * Any message may be lost, late or doubled, and any member may start again with what it has on its disk.
 */
import { bug } from '../common/bug.js'

const lastPromiseWins = bug('paxos-last-promise')
const forgetsPromises = bug('paxos-forget-promise')
const acceptsWithoutPromise = bug('paxos-begin-without-collect')

export class Paxos {
  #self
  #members
  #send
  #save
  /** As an acceptor: the highest round that it takes part in, and what it has accepted last. */
  promised = 0
  accepted = null
  /** As a leader: its latest round, with what each acceptor in it had accepted before. */
  #round = { number: 0, value: undefined, promises: new Map(), isBegun: false }
  /** As a learner: who accepted, by round. */
  #votes = new Map()
  chosen = null

  /**
   * `members` lists all, also `self`; `send(member, message)` may lose the message; `save(state)` returns when the state
   * is on disk; `saved` is what was saved before, if anything.
   */
  constructor({ self, members, send, save, saved }) {
    this.#self = self
    this.#members = members
    this.#send = send
    this.#save = save
    if (saved) Object.assign(this, saved)
  }

  /** All that its behaviour depends on, for a log. */
  get state() {
    const { number, promises } = this.#round
    const votes = Object.fromEntries([...this.#votes].map(([round, voters]) => [round, [...voters].sort()]))
    return {
      promised: this.promised,
      accepted: this.accepted,
      round: { number, promises: [...promises.keys()] },
      votes,
      chosen: this.chosen,
    }
  }

  /** Leads a round of its own, higher than all that it knows of: `value` is proposed if none can have been chosen. */
  propose(value) {
    this.#round = { number: this.#nextRound(), value, promises: new Map(), isBegun: false }
    this.#broadcast({ type: 'prepare', round: this.#round.number })
  }

  receive(message, sender) {
    if (message.type === 'prepare') this.#onPrepare(message, sender)
    else if (message.type === 'promise') this.#onPromise(message, sender)
    else if (message.type === 'accept') this.#onAccept(message)
    else if (message.type === 'learn') this.#onLearn(message, sender)
  }

  /** Members lead rounds of disjoint sets. A member has promised all that it led, so it leads none twice. */
  #nextRound() {
    const count = this.#members.length
    return (Math.floor(this.promised / count) + 1) * count + this.#members.indexOf(this.#self)
  }

  #onPrepare({ round }, leader) {
    if (round <= this.promised) return
    this.promised = round
    this.#saveAcceptor()
    this.#tell(leader, { type: 'promise', round, accepted: this.accepted })
  }

  #onPromise({ round, accepted }, acceptor) {
    const { number, promises, isBegun } = this.#round
    if (round !== number || isBegun) return
    promises.set(acceptor, accepted)
    if (!this.#isMajority(promises)) return
    this.#round.isBegun = true
    this.#broadcast({ type: 'accept', round, value: this.#safeValue() })
  }

  /** Of what the majority has accepted, that of the highest round may have been chosen. */
  #safeValue() {
    const { promises, value } = this.#round
    const reports = [...promises.values()]
    if (lastPromiseWins) return reports.at(-1)?.value ?? value
    const [latest] = reports.filter(report => report !== null).sort((a, b) => b.round - a.round)
    return latest?.value ?? value
  }

  /** To accept is a promise, too: the `prepare` of the round may have been lost. */
  #onAccept({ round, value }) {
    if (round < this.promised) return
    if (!acceptsWithoutPromise) this.promised = round
    this.accepted = { round, value }
    this.#saveAcceptor()
    this.#broadcast({ type: 'learn', round, value })
  }

  #onLearn({ round, value }, acceptor) {
    if (!this.#votes.has(round)) this.#votes.set(round, new Set())
    const voters = this.#votes.get(round).add(acceptor)
    if (this.#isMajority(voters)) this.chosen = value
  }

  #isMajority({ size }) {
    return size > this.#members.length / 2
  }

  /** Nobody may hear of a promise or an accepted value that a restart could undo. */
  #saveAcceptor() {
    if (!forgetsPromises) this.#save({ promised: this.promised, accepted: this.accepted })
  }

  /** To itself first: what it promises itself is on disk before others hear of it. */
  #broadcast(message) {
    const others = this.#members.filter(member => member !== this.#self)
    for (const member of [this.#self, ...others]) this.#tell(member, message)
  }

  #tell(member, message) {
    if (member === this.#self) this.receive(message, member)
    else this.#send(member, message)
  }
}
