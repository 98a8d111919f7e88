import { describe, expect, test } from 'vitest'
// @ts-expect-error: plain JavaScript without declarations, as a service is
import { byAddress, endpoint } from '../../examples/corpus/common/address.js'
import { loopback, start } from '../examples/service.ts'

const fixture = new URL('fixtures/chatter.js', import.meta.url).pathname
const port = 7000
const address = (host: number) => `${loopback(host)}:${port}`

interface Chatter {
  event: 'open' | 'message' | 'lost' | 'refused'
  peer?: string
  text?: string
}

/** Says each `peer=text` when it has opened its port, and logs all that it hears. */
const chatter = (host: number, ...says: string[]) => start<Chatter>([fixture, address(host), ...says])

describe('addresses', () => {
  test('are split, ordered as numbers, and refused where they are none', () => {
    expect(endpoint('10.0.0.1:7000')).toEqual({ host: '10.0.0.1', port: 7000 })
    expect(['10.0.0.10:1', '10.0.0.9:2', '10.0.0.9:1'].sort(byAddress)).toEqual([
      '10.0.0.9:1',
      '10.0.0.9:2',
      '10.0.0.10:1',
    ])
    expect(() => endpoint('n1')).toThrow('expected an address as 10.0.0.1:7000, found n1')
  })
})

describe('peers', () => {
  test('get messages in order, and answers on the same connection', async () => {
    const listener = chatter(1)
    await listener.state(({ event }) => event === 'open')
    const speaker = chatter(2, `${address(1)}=one`, `${address(1)}=echo`, `${address(1)}=three`)
    await speaker.state(({ text }) => text === 'echoed')
    await listener.state(({ text }) => text === 'three')
    expect(listener.states).toEqual([
      { event: 'open' },
      { event: 'message', peer: address(2), text: 'one' },
      { event: 'message', peer: address(2), text: 'echo' },
      { event: 'message', peer: address(2), text: 'three' },
    ])
    expect(speaker.states).toEqual([{ event: 'open' }, { event: 'message', peer: address(1), text: 'echoed' }])
  })

  test('are lost when they refuse a connection, and when their process ends', async () => {
    const first = chatter(1, `${address(2)}=nobody is there`)
    expect(await first.state(({ event }) => event === 'lost')).toEqual({ event: 'lost', peer: address(2) })
    const second = chatter(2, `${address(1)}=echo`)
    await second.state(({ text }) => text === 'echoed')
    process.kill(second.pid, 'SIGKILL')
    await first.state(() => first.states.length === 4)
    expect(first.states.at(-1)).toEqual({ event: 'lost', peer: address(2) })
  })

  test('refuse what waits for a connection beyond the limit', async () => {
    const full = chatter(1, `${address(2)}=1`, `${address(2)}=2`, `${address(2)}=3`, `${address(2)}=4`)
    expect(await full.state(({ event }) => event === 'refused')).toEqual({ event: 'refused', text: '4' })
  })
})
