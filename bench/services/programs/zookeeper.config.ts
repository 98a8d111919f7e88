import { always, defineSystem, type NodeHandle } from 'lastnail'
import { talk } from './talk.ts'

const ids = [1, 2, 3]

const settings = (id: number) =>
  [
    'tickTime=2000',
    'initLimit=10',
    'syncLimit=5',
    'dataDir=/tmp/zk',
    'clientPort=2181',
    'admin.enableServer=false',
    ...ids.map(peer => `server.${peer}=${peer === id ? '0.0.0.0' : `{{z${peer}.address}}`}:2888:3888`),
  ].join('\n')

const jars = ['zookeeper', 'slf4j-log4j12', 'log4j-1.2'].map(name => `/usr/share/java/${name}.jar`).join(':')

const member = (id: number) => ({
  command: [
    'sh',
    '-c',
    `mkdir /tmp/zk && echo ${id} > /tmp/zk/myid && echo '${settings(id)}' > /tmp/zoo.cfg && exec java -cp /etc/zookeeper/conf_example:${jars} -Dzookeeper.root.logger=INFO,CONSOLE org.apache.zookeeper.server.quorum.QuorumPeerMain /tmp/zoo.cfg`,
  ],
  listens: [2181],
})

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const text = (value: string) => Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)])
const packet = (...fields: readonly Buffer[]) => {
  const body = Buffer.concat(fields)
  return Buffer.concat([int(body.length), body])
}

/** The session that is asked for, then one request; what answers that is behind the session's 41 bytes. */
const ask = async (node: NodeHandle, ...request: readonly Buffer[]): Promise<string> => {
  const session = packet(int(0), Buffer.alloc(8), int(10_000), Buffer.alloc(8), int(16), Buffer.alloc(16))
  const answered = (heard: Buffer) => heard.length > 41 && heard.length >= 45 + heard.readInt32BE(41)
  const heard = await talk(node, 2181, Buffer.concat([session, packet(int(1), ...request)]), answered)
  return heard.subarray(45).toString('hex')
}

const [create, getData] = [1, 4]
const anyone = [int(1), int(31), text('world'), text('anyone')]

/** An ensemble of three. */
export default defineSystem({
  name: 'zookeeper',
  nodes: Object.fromEntries(ids.map(id => [`z${id}`, member(id)])),
  state: node => /LEADING|FOLLOWING/.exec(node.output().stdout)?.[0],
  clients: {
    write: {
      run: ({ z1 }, { ordinal }) => ask(z1!, int(create), text(`/n${ordinal}`), text('x'), ...anyone, int(0)),
      times: 20,
    },
    read: { run: ({ z2 }) => ask(z2!, int(getData), text('/n1'), Buffer.from([0])), times: 20 },
  },
  // Servers find each other first, and are asked all along.
  weights: { client: 0.1 },
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
