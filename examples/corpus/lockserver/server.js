/**
 * A lock server: locks with many readers or one writer.
 *
 *     node server.js 127.0.0.1:7000
 *
 * A client keeps a lock when it does not need it any more, until the server revokes it for somebody else.
 *
 *     { type: 'acquire', lock, mode, client }   `granted`, when no other client's lock is in the way; in the order of arrival
 *     { type: 'release', lock, client }         `released`; `denied` where others wait, for then a revoke is on its way
 *     { type: 'revoke', lock }                  from the server to a client; `revoked` when it does not have the lock any more
 *
 * It logs who has each lock and who waits for it as a line of JSON whenever that changes.
 */
import { log } from '../common/log.js'
import { openPool, serve } from './requests.js'

const [self] = process.argv.slice(2)

const locks = new Map()
const clients = new Map()

const lockOf = name => {
  if (!locks.has(name)) locks.set(name, { name, holders: new Map(), queue: [], revoking: new Set() })
  return locks.get(name)
}

const clientAt = address => {
  if (!clients.has(address)) clients.set(address, openPool(address))
  return clients.get(address)
}

const acquire = ({ lock: name, mode, client }) =>
  new Promise(resolve => {
    const lock = lockOf(name)
    lock.queue.push({ client, mode, grant: () => resolve({ type: 'granted' }) })
    grantNext(lock)
  })

const release = ({ lock: name, client }) => {
  const { queue, holders } = lockOf(name)
  if (queue.length > 0) return { type: 'denied' }
  holders.delete(client)
  return { type: 'released' }
}

/** Grants to the first in the queue, and to those after it, as far as no holder is in the way. */
const grantNext = lock => {
  const { holders, queue } = lock
  if (queue.length === 0) return
  const [{ client, mode, grant }] = queue
  const opponents = [...holders].filter(([, held]) => held === 'exclusive' || mode === 'exclusive')
  if (opponents.length > 0) {
    for (const [opponent] of opponents) revoke(lock, opponent)
    return
  }
  queue.shift()
  holders.set(client, mode)
  grant()
  grantNext(lock)
}

const revoke = async (lock, client) => {
  if (lock.revoking.has(client)) return
  lock.revoking.add(client)
  await clientAt(client).request({ type: 'revoke', lock: lock.name })
  lock.revoking.delete(client)
  lock.holders.delete(client)
  grantNext(lock)
  logState()
}

const logState = () =>
  log({
    locks: Object.fromEntries(
      [...locks].map(([name, { holders, queue, revoking }]) => [
        name,
        {
          holders: Object.fromEntries(holders),
          revoking: [...revoking],
          queue: queue.map(({ client, mode }) => `${mode} ${client}`),
        },
      ]),
    ),
  })

const handlers = { acquire, release }

const answer = request => {
  const answered = handlers[request.type]?.(request) ?? { type: 'unknown' }
  logState()
  return answered
}

serve(self, answer, logState)
