import { expect, test } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import type { SystemDefinition } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Takes the first choice again and again, three times from the start, and returns the labels of one time. */
const executed = async (cluster: Cluster, output: Readonly<Record<string, string>>, notes: readonly string[] = []) => {
  const all: string[][] = []
  for (const _ of [1, 2, 3]) {
    const labels: string[] = []
    await cluster.reset()
    for (let label = labelsOf(cluster)[0]; label !== undefined; label = labelsOf(cluster)[0]) {
      labels.push(label)
      await take(cluster, label)
    }
    for (const [node, lines] of Object.entries(output)) expect(stdoutOf(cluster, node).join('\n')).toBe(lines)
    all.push(labels)
  }
  expect(all[1]).toEqual(all[0])
  expect(all[2]).toEqual(all[0])
  expect(cluster.notes()).toEqual(notes)
  return all[0]!
}

const python = (file: string) => ['python3', file]

const server = `
import socket
server = socket.socket(socket.AF_INET6)
server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
server.bind(('::', 7000))
server.listen()
while True:
    peer, (address, *_) = server.accept()
    while said := peer.recv(1000):
        print(address, said.decode(), flush=True)
        peer.sendall(b'yes ' + said)
`
const asker = `
import socket, time
print(*{end[4][0] for end in socket.getaddrinfo('server', 7000)}, flush=True)
print(*{end[4][0] for end in socket.getaddrinfo('localhost', 7000, socket.AF_INET6)}, flush=True)
peer = socket.socket(socket.AF_INET6)
peer.connect(('server', 7000))
for word in (b'one', b'two'):
    time.sleep(1)
    peer.sendall(word)
    print(peer.recv(100).decode(), flush=True)
time.sleep(1e9)
`

const clients: SystemDefinition['clients'] = {
  ann: {
    times: 1,
    run: ({ server }) =>
      new Promise((resolve, reject) => {
        const socket = server!.tcp(7000).on('error', reject)
        socket.once('data', said => socket.end(() => resolve(String(said)))).write('hello')
      }),
  },
}

test('a server that listens on IPv6 alone is reached by nodes that ask for its IPv6 address, and by clients', async () => {
  const nodes = { server: { command: python('server.py'), listens: 7000 }, asker: { command: python('asker.py') } }
  const cluster = clusterOf({ nodes, clients, overlap: 0 }, { 'server.py': server, 'asker.py': asker })
  const output = {
    // Who only asks for any address gets that of IPv4.
    asker: '10.77.0.2\n::1\nyes one\nyes two',
    server: 'fd77::a4d:fffe hello\nfd77::a4d:3 one\nfd77::a4d:3 two',
  }
  expect(await executed(cluster, output)).toContain('client ann')
})

const listener = `
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 7000))
if sys.argv[1] == 'joins':
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton('239.1.2.3') + bytes(4))
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.bind(('::', 7001))
if sys.argv[1] == 'joins':
    group = socket.inet_pton(socket.AF_INET6, 'ff15::7')
    six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group + struct.pack('@I', 0))
import select
while True:
    for ready in select.select([s, six], [], [])[0]: print(ready.recv(100).decode(), flush=True)
`
const speaker = `
import socket, time
time.sleep(1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
s.sendto(b'to a group', ('239.1.2.3', 7000))
s.sendto(b'to all', ('255.255.255.255', 7000))
s.sendto(b'to nobody', ('255.255.255.255', 7009))
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
six.sendto(b'to a group of six', ('ff15::7', 7001))
six.sendto(b'to one', ('b', 7001))
time.sleep(1e9)
`

test('a datagram for many arrives at each node that listens, by itself; one for a group at those that joined', async () => {
  const nodes = {
    speaker: { command: python('speaker.py') },
    a: { command: ['python3', 'listener.py', 'joins'] },
    b: { command: ['python3', 'listener.py', 'does not'] },
  }
  const cluster = clusterOf({ nodes, overlap: 0 }, { 'speaker.py': speaker, 'listener.py': listener })
  expect(
    await executed(cluster, { a: 'to a group\nto all\nto a group of six', b: 'to all\nto one' }, [
      'speaker: no other node listened to a broadcast',
    ]),
  ).toEqual([
    'speaker timer +1000ms',
    'speaker→a #1 10 bytes :7000 "to a group"',
    'speaker→a #2 6 bytes :7000 "to all"',
    'speaker→a #3 17 bytes :7001 "to a group of six"',
    'speaker→b #1 6 bytes :7000 "to all"',
    'speaker→b #2 6 bytes :7001 "to one"',
  ])
})
