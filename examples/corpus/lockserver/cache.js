/**
 * The locks of a client process. Its threads share them, and it keeps what it has until the server revokes it. A lock that
 * it has for reading has to be given back before it can be had for writing.
 */
import { bug } from '../common/bug.js'

const retriesInTightLoop = bug('lock-livelock')

class Lock {
  /** How this client has it: `shared`, `exclusive` or not at all. */
  held = null
  /** What is asked of the server and not answered: `acquire` or `release`. Nothing else is done to the lock meanwhile. */
  pending = null
  /** The server wants it back: no thread takes it any more. */
  isRevoked = false
  /** How many threads use it, and how. */
  users = { count: 0, mode: null }
  #waiting = []

  constructor(name) {
    this.name = name
  }

  /** The next change; whoever waits has to look then whether it is the one that it waits for. */
  change() {
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  changed() {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  allows(mode) {
    const { count, mode: used } = this.users
    const isHeld = this.held === 'exclusive' || this.held === mode
    return isHeld && (count === 0 || (mode === 'shared' && used === 'shared'))
  }

  use(mode) {
    this.users = { count: this.users.count + 1, mode }
  }

  leave() {
    this.users.count -= 1
  }
}

export class LockCache {
  #locks = new Map()
  #request

  /** `request(message)` asks the server. */
  constructor(request) {
    this.#request = request
  }

  get state() {
    const state = ({ held, pending, isRevoked, users }) => ({ held, pending, isRevoked, users })
    return Object.fromEntries([...this.#locks].map(([name, lock]) => [name, state(lock)]))
  }

  /** Resolves when the calling thread may use the lock. */
  async acquire(name, mode) {
    const lock = this.#lock(name)
    for (;;) {
      if (lock.isRevoked || lock.pending !== null) await lock.change()
      else if (lock.allows(mode)) return lock.use(mode)
      else if (lock.held === null) return await this.#get(lock, mode)
      else if (lock.users.count > 0) await lock.change()
      else await this.#giveBack(lock)
    }
  }

  /** The calling thread does not use the lock any more. The client keeps it. */
  release(name) {
    const lock = this.#lock(name)
    lock.leave()
    lock.changed()
  }

  /**
   * Resolves when this client does not have the lock any more: its threads may finish, and one may use it that has not got
   * the server's answer yet.
   */
  async revoke(name) {
    const lock = this.#lock(name)
    lock.isRevoked = true
    while (lock.held === null || lock.pending !== null || lock.users.count > 0) await lock.change()
    lock.held = null
    lock.isRevoked = false
    lock.changed()
  }

  #lock(name) {
    if (!this.#locks.has(name)) this.#locks.set(name, new Lock(name))
    return this.#locks.get(name)
  }

  /** The thread that asked uses the lock at once, even where it is revoked already: else two clients could take turns for ever. */
  async #get(lock, mode) {
    lock.pending = 'acquire'
    await this.#request({ type: 'acquire', lock: lock.name, mode })
    lock.pending = null
    lock.held = mode
    lock.use(mode)
    lock.changed()
  }

  /** Where the server denies a release, a revoke is on its way, and does what the release would have done. */
  async #giveBack(lock) {
    for (;;) {
      lock.pending = 'release'
      const { type } = await this.#request({ type: 'release', lock: lock.name })
      lock.pending = null
      if (type === 'released') lock.held = null
      lock.changed()
      if (!retriesInTightLoop) while (lock.held !== null) await lock.change()
      if (lock.held === null) return
    }
  }
}
