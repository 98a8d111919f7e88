import { expect, test } from 'vitest'
import { clusterOf, stdoutOf } from '../system.ts'
import { heldOutput, runOn } from './program.ts'

const python = (body: string) =>
  ['python3', '-c', `import socket, struct, time\ntime.sleep(1)\n${body}\nwhile True: time.sleep(3600)`] as const

test('broadcast and multicast that nobody listens to and other protocols are said, once for each; within the node multicast is heard', async () => {
  const { lines, notes } = await heldOutput(
    python(`
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 7000))
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton('239.1.2.3') + socket.inet_aton('0.0.0.0'))
s.sendto(b'to a group', ('239.1.2.3', 7000))
print(s.recv(100), flush=True)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
raw.sendto(struct.pack('!BBHHH', 13, 0, 0xf2ff, 0, 0), ('10.9.9.9', 0))
for i in range(2): s.sendto(b'to all', ('255.255.255.255', 7000))`),
  )
  expect(lines).toEqual(["b'to a group'"])
  expect(notes).toEqual([
    'n: no other node had joined the group of a multicast, and listened',
    'n: protocols other than TCP, UDP and that of ping are not carried: no node received it',
    'n: no other node listened to a broadcast',
  ])
})

const server = `
import socket
listener = socket.socket()
listener.bind(('', 7000))
listener.listen()
peer, _ = listener.accept()
while True: print(peer.recv(100), flush=True)
`
const sender = `
import socket, time
s = socket.create_connection(('b', 7000))
s.send(b'one')
s.send(b'two', socket.MSG_OOB)
while True: time.sleep(3600)
`

test('urgent data of a connection arrives as any other, and that is said', async () => {
  const nodes = { a: { command: ['python3', 'a.py'] }, b: { command: ['python3', 'b.py'], listens: 7000 } } as const
  const cluster = clusterOf({ nodes }, { 'a.py': sender, 'b.py': server })
  const execute = async () => {
    expect(await cluster.reset()).toEqual([])
    return { labels: await runOn(cluster), lines: stdoutOf(cluster, 'b').join('') }
  }
  const first = await execute()
  expect(first.lines.replaceAll("'b'", '')).toBe("b'onetwo'")
  expect(await execute()).toEqual(first)
  expect(cluster.notes().filter(note => note.includes('MSG_OOB'))).toEqual([
    'a: urgent data (MSG_OOB) arrives as any other: no mark and no SIGURG tell of it',
  ])
})

test('within the node ::1 serves, and urgent data is urgent', async () => {
  const { lines, notes } = await heldOutput(
    python(`
import threading
for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
  listener = socket.socket(family)
  listener.bind((address, 7000))
  listener.listen()
  client = socket.create_connection((address, 7000))
  peer, _ = listener.accept()
  def serve(got=b''):
    while True:
      got += peer.recv(100)
      while len(got) >= 2: peer.send(got[:2].upper()); got = got[2:]
  threading.Thread(target=serve, daemon=True).start()
  for turn in range(40):
    client.send(b'a'); client.send(b'b')
    assert client.recv(2) == b'AB'
  peer.send(b'!', socket.MSG_OOB)
  print(family.name, client.getpeername()[0], client.recv(1, socket.MSG_OOB), flush=True)
try: socket.create_connection(('2001:db8::1', 7000))
except OSError as error: print(error.strerror, flush=True)`),
  )
  expect(lines).toEqual(["AF_INET 127.0.0.1 b'!'", "AF_INET6 ::1 b'!'", 'Network is unreachable'])
  expect(notes).toEqual([])
})
