import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

const client = `
import socket, time
time.sleep(1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('b', 7000))
s.send(b'hello')
try: print('got', s.recv(100), flush=True)
except ConnectionRefusedError as error: print(error, flush=True)
while True: time.sleep(3600)
`
const system = (server: string) =>
  clusterOf(
    {
      nodes: { a: { command: ['python3', 'client.py'] }, b: { command: ['python3', 'server.py'] } },
      faults: { partition: 1 },
    },
    { 'client.py': client, 'server.py': server },
  )
const withoutPort = 'import time\nwhile True: time.sleep(3600)'
const withPort = `
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 7000))
while True: data, peer = s.recvfrom(100); s.sendto(data.upper(), peer)
`

test('a datagram for a port that nobody has is answered by a message: the client sees ECONNREFUSED', async () => {
  const cluster = system(withoutPort)
  for (let execution = 0; execution < 2; execution++) {
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'a timer +1000ms')
    await take(cluster, 'a→b #1 5 bytes :7000 "hello"')
    expect(stdoutOf(cluster, 'a')).toEqual([''])
    await take(cluster, 'b→a #1 unreachable :7000')
    expect(stdoutOf(cluster, 'a')).toEqual(['[Errno 111] Connection refused'])
    expect(labelsOf(cluster).filter(label => label.includes('#'))).toEqual([])
  }
})

test('a client whose server listens is served', async () => {
  const cluster = system(withPort)
  expect(await cluster.reset()).toEqual([])
  await take(cluster, 'a timer +1000ms')
  await take(cluster, 'a→b #1 5 bytes :7000 "hello"')
  await take(cluster, labelsOf(cluster).find(label => label.startsWith('b→a #1 5 bytes'))!)
  expect(stdoutOf(cluster, 'a')).toEqual(["got b'HELLO'"])
})

const pinging = `
import socket, struct, time
time.sleep(1)
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
s.sendto(struct.pack('!BBHHH', 8, 0, 0xf7ff, 0, 0), ('b', 0))
answer, _ = s.recvfrom(100)
print('type', answer[20], flush=True)
while True: time.sleep(3600)
`

test('a ping is a message, and so is the answer of the other node’s kernel', async () => {
  const nodes = { a: { command: ['python3', 'ping.py'] }, b: { command: ['python3', 'b.py'] } } as const
  const cluster = clusterOf({ nodes }, { 'ping.py': pinging, 'b.py': withoutPort })
  for (let execution = 0; execution < 2; execution++) {
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'a timer +1000ms')
    await take(cluster, 'a→b #1 echo 0 bytes')
    await take(cluster, 'b→a #1 echo-reply 0 bytes')
    expect(stdoutOf(cluster, 'a')).toEqual(['type 0'])
  }
  expect(cluster.notes()).toEqual([])
})
