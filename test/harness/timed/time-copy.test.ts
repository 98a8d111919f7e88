import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Time } from '../../../harness/timed/time.ts'
import type { PipeSettings } from '../../../proxy/forwarding/pipe.ts'
import type { Message } from '../../../proxy/message.ts'
import { meshTiming, waysBetween } from './mesh.ts'

const names = ['a', 'b', 'c'] as const
const ways = waysBetween(names.length)

/** It loses, varies, holds back and drops. */
const pipeOf = (index: number): PipeSettings => ({
  delayMs: 20 + index,
  jitterMs: 5,
  loss: 0.1,
  corrupt: 0.01,
  bandwidth: 1e6,
  queue: { packets: 20, discipline: (['droptail', 'red', 'codel'] as const)[index % 3]! },
  ...(index % 2 === 0 && { cross: { bandwidth: 3e5 } }),
})

const timing = meshTiming(names, pipeOf)

/** Something that happens: a message is sent, or time passes, or a way is changed. */
const happening = fc.oneof(
  fc.record({
    do: fc.constant('send' as const),
    way: fc.nat(ways.length - 1),
    transport: fc.constantFrom('udp' as const, 'tcp' as const),
    bytes: fc.integer({ min: 1, max: 30_000 }),
  }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 400 }) }),
  fc.record({ do: fc.constant('lay' as const), way: fc.nat(ways.length - 1), delayMs: fc.nat(50) }),
)
type Happening = typeof happening extends fc.Arbitrary<infer Each> ? Each : never

const messageOf = ({ way, transport, bytes }: Extract<Happening, { do: 'send' }>, number: number) => {
  const { from, to } = ways[way]!
  const [one, other] = [names[from]!, names[to]!]
  const label = `${one}→${other} #${number}`
  const kind = 'data'
  return { from: one, to: other, label, transport, kind, port: 1, connection: 1, bytes: Buffer.alloc(bytes) }
}

/** Does all this, and tells what is known of each message after each. */
const told = (time: Time, happenings: readonly Happening[], before: number): unknown[] => {
  const messages: Message[] = []
  return happenings.map((each, index) => {
    if (each.do === 'send') {
      messages.push(messageOf(each, before + index) as unknown as Message)
      time.send(messages.slice(-1))
    } else if (each.do === 'pass') time.pass(time.nowMs + each.ms)
    else {
      const { from, to } = ways[each.way]!
      time.set({ from: names[from]!, to: names[to]!, pipe: { delayMs: each.delayMs, loss: 0.2 } })
    }
    time.foresee(time.nowMs + 1000, messages)
    const fates = messages.map(message => {
      const { dueMs, isLost } = time.sentOf(message)!
      return [message.label, dueMs, isLost]
    })
    return [time.nowMs, fates, { ...time.counts }]
  })
}

test('a copy goes on as the original does, and neither changes the other', () => {
  const some = fc.array(happening, { maxLength: 30 })
  fc.assert(
    fc.property(some, some, some, (before, after, other) => {
      const time = new Time(timing, names)
      told(time, before, 0)
      const copy = time.copy()
      const again = copy.copy()
      const expected = told(time, after, before.length)
      told(copy, other, before.length)
      expect(told(again, after, before.length)).toEqual(expected)
    }),
    { numRuns: 200 },
  )
})
