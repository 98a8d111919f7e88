import { expect, test } from 'vitest'
import { clusterOf, stdoutOf, take } from '../system.ts'
import { runOn } from './program.ts'

const echo = (address: string) => `
import socket, threading, time
time.sleep(1)
listener = socket.socket()
listener.bind(('', 7000))
listener.listen()
def serve():
  peer, _ = listener.accept()
  got = b''
  while True:
    got += peer.recv(100)
    while len(got) >= 2: peer.send(got[:2].upper()); got = got[2:]
threading.Thread(target=serve, daemon=True).start()
client = socket.create_connection(('${address}', 7000))
for turn in range(40):
  client.send(b'a'); client.send(b'b')
  assert client.recv(2) == b'AB'
print('answered', flush=True)
while True: time.sleep(3600)
`

test.each(['127.0.0.1', 'n'])('two small writes to itself by %s are acknowledged at once', async address => {
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'echo.py'] } } }, { 'echo.py': echo(address) })
  for (let execution = 0; execution < 2; execution++) {
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'n timer +1000ms')
    expect(stdoutOf(cluster, 'n')).toEqual(['answered'])
  }
})

test('no two nodes, and no two lives, read the same bytes from /dev/urandom; executions do', async () => {
  const command = ['sh', '-c', 'head -c 8 /dev/urandom | od -An -tx1; sleep 9'] as const
  const cluster = clusterOf({
    nodes: { a: { command: [...command] }, b: { command: [...command] } },
    faults: { crash: 1 },
  })
  const execute = async () => {
    expect(await cluster.reset()).toEqual([])
    const first = ['a', 'b'].flatMap(name => stdoutOf(cluster, name))
    await take(cluster, 'crash a')
    await take(cluster, 'restart a')
    return [...first, ...stdoutOf(cluster, 'a')]
  }
  const drawn = await execute()
  expect(new Set(drawn).size).toBe(3)
  expect(await execute()).toEqual(drawn)
  await runOn(cluster, 1)
})
