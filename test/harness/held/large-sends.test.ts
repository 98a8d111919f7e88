import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf } from '../system.ts'
import { runOn } from './program.ts'

const receiver = `
import socket
listener = socket.socket()
listener.bind(('', 7000))
listener.listen()
while True:
  peer, _ = listener.accept()
  lengths = []
  while got := peer.recv(65536): lengths.append(len(got))
  print(sum(lengths), 'in', *lengths, flush=True)
`

/** Sends megabytes in one step each, waiting for room in the call or for the event that there is some. */
const sender = `
import select, socket, sys, time
address, *plan = sys.argv[1:]
for manner, megabytes in zip(plan[::2], plan[1::2]):
  time.sleep(1)
  peer = socket.create_connection((address, 7000))
  left = memoryview(bytes(int(megabytes) * 1_000_000))
  if manner == 'blocking':
    peer.sendall(left)
  else:
    peer.setblocking(False)
    events = select.epoll()
    events.register(peer, select.EPOLLOUT)
    while left:
      events.poll()
      taken = peer.send(left)
      print('took', taken, flush=True)
      left = left[taken:]
  peer.close()
print('sent', flush=True)
time.sleep(10**9)
`

test('megabytes written in one step are taken by the kernel, and read, in the same pieces each time', async () => {
  const send = (...plan: string[]) => ({ command: ['python3', 'sender.py', '{{b.address}}', ...plan] as const })
  const nodes = {
    b: { command: ['python3', 'receiver.py'] as const, listens: [7000] },
    a: send('blocking', '1', 'events', '5'),
    c: send('events', '1', 'blocking', '5'),
  }
  const cluster = clusterOf({ nodes: nodes as never }, { 'receiver.py': receiver, 'sender.py': sender })
  const execute = async () => {
    expect(await cluster.reset()).toEqual([])
    const steps = await runOn(cluster, 60)
    return { steps, left: labelsOf(cluster), printed: ['a', 'b', 'c'].map(name => stdoutOf(cluster, name)) }
  }
  const first = await execute()
  expect(first.printed[0]!.at(-1)).toBe('sent')
  expect(first.printed[2]!.at(-1)).toBe('sent')
  expect(first.printed[1]!.map(line => line.split(' ')[0])).toHaveLength(4)
  for (let count = 2; count <= 10; count++) {
    // Half of them on new processes, the others on rewound ones.
    if (count % 2 === 0) cluster.endLives()
    expect(await execute()).toEqual(first)
  }
})
