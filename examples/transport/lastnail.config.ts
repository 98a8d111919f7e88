import { defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'

/** What the sender logs; the receiver logs what was delivered. */
interface End {
  unacknowledged?: string[]
  delivered?: string[]
}

interface Packet {
  type: string
  seq: number
  message?: string
}

const env = { BUG: process.env.BUG ?? '' }

export default defineSystem({
  name: 'transport',
  nodes: {
    sender: {
      command: [
        'node',
        '--no-memory-reducer',
        'sender.js',
        '{{sender.address}}:7000',
        '{{receiver.address}}:7000',
        'm1',
        'm2',
      ],
      env,
    },
    receiver: { command: ['node', '--no-memory-reducer', 'receiver.js', '{{receiver.address}}:7000'], env },
  },
  state: jsonLines<End>('stdout'),
  properties: {
    allAcknowledged: eventually((state: GlobalState<End>) => state.node('sender').state?.unacknowledged?.length === 0),
  },
  // No faults: a network that only delays and reorders is enough.
  faults: {},
  messages: frames.jsonLines(({ type, seq, message = '' }: Packet) => `${type} ${seq} ${message}`),
})
