import { always, defineSystem, type NodeHandle } from 'lastnail'
import { talk } from './talk.ts'

/** A packet of MQTT 3.1.1 that is shorter than 128 bytes. */
const packet = (type: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([type, body.length]), body])
}
const text = (words: string): Buffer => Buffer.concat([Buffer.from([0, words.length]), Buffer.from(words)])
const connect = (client: string) => packet(0x10, text('MQTT'), Buffer.from([4, 2, 0, 60]), text(client))
const publish = (topic: string, words: string) => packet(0x33, text(topic), Buffer.from([0, 7]), Buffer.from(words))
const subscribe = (topic: string) => packet(0x82, Buffer.from([0, 8]), text(topic), Buffer.from([1]))
const acknowledged = (type: number) => (heard: Buffer) => heard.includes(Buffer.from([type, 2]))

const ask = async (node: NodeHandle, said: readonly Buffer[], isEnough: (heard: Buffer) => boolean): Promise<string> =>
  (await talk(node, 1883, Buffer.concat(said), isEnough)).toString('hex')

/** One broker that keeps the last message of a topic, and what it had to say of itself every ten seconds. */
export default defineSystem({
  name: 'mosquitto',
  nodes: {
    broker: {
      command: [
        'sh',
        '-c',
        'printf "listener 1883\\nallow_anonymous true\\nuser root\\n" > conf; exec mosquitto -c conf',
      ],
      listens: 1883,
    },
  },
  state: node => node.output().stderr,
  clients: {
    publish: {
      run: ({ broker }, { ordinal }) => ask(broker!, [connect('p'), publish('a/b', `n${ordinal}`)], acknowledged(0x40)),
      times: 20,
    },
    status: {
      run: ({ broker }) => ask(broker!, [connect('s'), subscribe('$SYS/#')], heard => heard.includes('uptime')),
      times: 10,
    },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 1) },
})
