import { expect, test } from 'vitest'
import { Time } from '../../../harness/timed/time.ts'
import type { Message } from '../../../proxy/message.ts'
import { meshTiming } from './mesh.ts'

const names = ['a', 'b'] as const
const messages = new Map<string, number>()

/** A message of the first connection that its opener has opened to the other node's only port. */
const messageOf = (
  opener: string,
  { from, kind = 'data', bytes = 100 }: { from: string; kind?: Message['kind']; bytes?: number },
): Message => {
  const to = from === 'a' ? 'b' : 'a'
  const ordinal = (messages.get(from) ?? 0) + 1
  messages.set(from, ordinal)
  const label = `${from}→${to} #${ordinal} ${kind}`
  const about = { transport: 'tcp', port: 7000, connection: 1, opener } as const
  return { ordinal, from, to, kind, label, bytes: Buffer.alloc(bytes), ...about }
}

const timeOf = () =>
  new Time(
    meshTiming(names, () => ({ delayMs: 10, bandwidth: 1e6 })),
    names,
  )

const dueOf = (time: Time, message: Message): number | undefined => {
  time.foresee(time.nowMs + 10_000, [message])
  return time.sentOf(message)?.dueMs
}

test('where two nodes have each opened a connection to the same port of the other, one goes on when the other is gone', () => {
  const time = timeOf()
  const large = messageOf('a', { from: 'a', bytes: 1_000_000 })
  time.send([messageOf('a', { from: 'a', kind: 'open' }), messageOf('b', { from: 'b', kind: 'open' })])
  time.pass(100)
  time.send([messageOf('b', { from: 'a', kind: 'accept' }), large])
  time.forget([], [large.label])
  const small = messageOf('b', { from: 'a' })
  time.send([small])
  expect(dueOf(time, small)).toBeLessThan(500)
})

test('a connection that is over is forgotten, and the next of the same name begins anew', () => {
  const time = timeOf()
  const before = messageOf('a', { from: 'a' })
  time.send([before])
  time.forget([], [before.label])
  time.forgetConnections([{ opener: 'a', listener: 'b', number: 1, port: 7000, shownPort: 1 }])
  const next = messageOf('a', { from: 'a' })
  time.send([next])
  expect(dueOf(time, next)).toBeLessThan(20)
})
