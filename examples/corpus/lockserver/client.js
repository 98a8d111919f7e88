/**
 * A client of the lock server, with threads that use locks in turn.
 *
 *     node client.js 127.0.0.2:7000 127.0.0.1:7000 l1=shared,l1=exclusive l2=exclusive
 *
 * Arguments: its own address, for revokes; the server's; and for each thread what it uses, one after the other. It logs
 * what its threads wait for and use as a line of JSON whenever that changes.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { bug } from '../common/bug.js'
import { log } from '../common/log.js'
import { LockCache } from './cache.js'
import { openPool, serve } from './requests.js'

/** A thread thinks before it wants a lock, and works while it has it. */
const workMs = { min: 10, max: 100 }
/** A request for a lock that somebody else has is in the way of no other request. */
const socketsMax = bug('lock-deadlock') ? 1 : Infinity

const [self, server, ...threads] = process.argv.slice(2)

const { request } = openPool(server, socketsMax)
const cache = new LockCache(message => request({ ...message, client: self }))

const waiting = new Set()
const using = new Set()
const logState = () => log({ self, waiting: [...waiting], using: [...using], locks: cache.state })

const work = () => sleep(randomInt(workMs.min, workMs.max))

const use = async (lock, mode, thread) => {
  const use = { thread, lock, mode }
  waiting.add(use)
  const acquired = cache.acquire(lock, mode)
  logState()
  await acquired
  waiting.delete(use)
  using.add(use)
  logState()
  await work()
  using.delete(use)
  cache.release(lock)
  logState()
}

const runThread = async (uses, thread) => {
  for (const text of uses.split(',')) {
    const [lock, mode] = text.split('=')
    await work()
    await use(lock, mode, thread)
  }
}

const answer = async ({ type, lock }) => {
  if (type !== 'revoke') return { type: 'unknown' }
  const revoked = cache.revoke(lock)
  logState()
  await revoked
  logState()
  return { type: 'revoked' }
}

serve(self, answer, () => {
  logState()
  threads.forEach(runThread)
})
