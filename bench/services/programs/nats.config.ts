import { always, defineSystem, type NodeHandle } from 'lastnail'
import { talk } from './talk.ts'

const names = ['n1', 'n2', 'n3']

const server = (name: string) => ({
  command: [
    'cache/nats-server',
    ...['-a', '0.0.0.0', '-p', '4222', '-n', name, '-js', '-sd', `/tmp/${name}`],
    ...['--cluster_name', 'trio', '--cluster', `nats://{{${name}.address}}:6222`],
    ...['--routes', names.map(peer => `nats://{{${peer}.address}}:6222`).join(',')],
  ],
  listens: [4222],
})

/** Publishes with a subject for the answer, and gives that. */
const request = async (node: NodeHandle, subject: string, payload: string): Promise<string> => {
  const said = [
    'CONNECT {"verbose":false}',
    'SUB answers 1',
    `PUB ${subject} answers ${Buffer.byteLength(payload)}`,
    payload,
    '',
  ]
  const isAnswered = (heard: Buffer) => /MSG answers 1 .*\r\n.*\r\n/.test(heard.toString())
  const heard = await talk(node, 4222, said.join('\r\n'), isAnswered)
  return heard.toString().split('\r\n').slice(-2)[0]!
}

const stream = JSON.stringify({ name: 'events', subjects: ['events.>'], num_replicas: 3, storage: 'file' })

/** Three servers with JetStream, and a stream that each of them keeps. */
export default defineSystem({
  name: 'nats',
  nodes: Object.fromEntries(names.map(name => [name, server(name)])),
  state: node => node.output().stderr.length,
  clients: {
    create: { run: ({ n1 }) => request(n1!, '$JS.API.STREAM.CREATE.events', stream), times: 3 },
    publish: { run: ({ n2 }, { ordinal }) => request(n2!, 'events.a', `event ${ordinal}`), times: 20 },
    look: { run: ({ n3 }) => request(n3!, '$JS.API.STREAM.INFO.events', ''), times: 20 },
  },
  // Servers find each other first, and are asked all along.
  weights: { client: 0.1 },
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
