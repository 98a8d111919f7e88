import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
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

/** Another process, of which the test plays the runs. */
const listen = async (host: number) => {
  const server = createServer().listen(port, loopback(host))
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return server
}

const connectTo = (host: number, from: number) => {
  const socket = connect({ host: loopback(host), port, localAddress: loopback(from) })
  onTestFinished(() => void socket.destroy())
  return socket.setEncoding('utf8').on('error', () => {})
}

const say = (socket: Socket, line: object) => socket.write(`${JSON.stringify(line)}\n`)

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

  // Found by random schedules of RandTree with four resets: what was said afterwards went to the closed connection for ever.
  test('answer another run of a peer that once was met on their own connection', async () => {
    const other = await listen(2)
    const one = chatter(1, `${address(2)}=hello`)
    const [opened] = (await once(other, 'connection')) as [Socket]
    onTestFinished(() => void opened.destroy())
    const firstRun = connectTo(1, 2)
    say(firstRun, { from: address(2), run: 1, text: 'first run' })
    await one.state(({ text }) => text === 'first run')
    say(opened, { from: address(2), run: 2, text: 'second run' })
    await one.state(({ event }) => event === 'lost')
    const secondRun = connectTo(1, 2)
    say(secondRun, { from: address(2), run: 2, text: 'echo' })
    const [answer] = await once(secondRun, 'data')
    expect(JSON.parse(answer)).toEqual({ from: address(1), run: expect.any(Number), text: 'echoed' })
    expect(one.states.map(({ text }) => text)).not.toContain('second run')
  })
})
