import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import { hasCriu } from '../checkpoint/criu.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

const server = `
import socket
listener = socket.socket()
listener.bind(('', 7000))
listener.listen()
kept = []
while True: kept.append(listener.accept())
`
const client = (body: string) => `
import errno, select, socket, time
time.sleep(1)
s = socket.socket()
def told(work):
  try: print(work(), flush=True)
  except OSError as error: print(errno.errorcode[error.errno], flush=True)
${body}
while True: time.sleep(3600)
`
const system = (body: string) =>
  clusterOf(
    {
      nodes: { a: { command: ['python3', 'client.py'] }, b: { command: ['python3', 'server.py'], listens: [7000] } },
      faults: { partition: 1, reset: 1 },
    },
    { 'client.py': client(body), 'server.py': server },
  )

const timers = (cluster: Cluster) => labelsOf(cluster).filter(label => label.includes(' timer '))

/** Takes these steps twice, the second time on rewound processes, and once on new ones; gives what the client wrote. */
const written = async (body: string, steps: readonly string[]): Promise<string[]> => {
  const execute = async (cluster: Cluster) => {
    expect(await cluster.reset()).toEqual([])
    for (const step of steps) expect((await take(cluster, step)).findings).toEqual([])
    expect(cluster.notes().filter(note => !note.includes('was started anew'))).toEqual([])
    return { lines: stdoutOf(cluster, 'a'), labels: labelsOf(cluster) }
  }
  const cluster = system(body)
  const first = await execute(cluster)
  expect(await execute(cluster)).toEqual(first)
  expect(await execute(system(body))).toEqual(first)
  return first.lines
}

const opened = ['a timer +1000ms', 'a→b #1 open :7000', 'b→a #1 accept :7000']

test('connect over a way that is cut gives up after the kernel’s 127 s, or sooner where the program says so', async () => {
  const cut = ['partition a | b', 'a timer +1000ms']
  const connect = "told(lambda: s.connect(('b', 7000)))"
  expect(await written(connect, [...cut, 'a timer +127000ms'])).toEqual(['ETIMEDOUT'])
  const user = `s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 2500)
s.setblocking(False)
s.connect_ex(('b', 7000))
poll = select.poll()
poll.register(s, select.POLLOUT)
print(poll.poll()[0][1] == select.POLLOUT | select.POLLERR | select.POLLHUP)
print(errno.errorcode[s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)], flush=True)`
  expect(await written(user, [...cut, 'a timer +2500ms'])).toEqual(['True', 'ETIMEDOUT'])
})

test('a request that its program gives up is not waited for any more, though nobody is told', async () => {
  const cluster = system("s.setblocking(False)\ns.connect_ex(('b', 7000))\ntime.sleep(2)\ns.close()")
  await cluster.reset()
  const waits = () => cluster.timers.find(({ node }) => node === 'a')!.deadlinesMs
  for (const step of ['partition a | b', 'a timer +1000ms']) await take(cluster, step)
  expect(waits()).toEqual([2000, 127_000])
  await take(cluster, 'a timer +2000ms')
  expect(waits()).toEqual([3_600_000])
  const mark = (await cluster.mark())!
  await take(cluster, 'a timer +3600000ms')
  await cluster.restore(mark)
  expect(waits()).toEqual([3_600_000])
  expect(cluster.notes()).toEqual([])
})

const keepAlive = `s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
s.connect(('b', 7000))
`

test('keep-alive finds a way that is cut, and a peer that has forgotten the connection', async () => {
  const receive = `${keepAlive}told(lambda: s.recv(1))`
  expect(await written(receive, [...opened, 'partition a | b', 'a timer +25000ms'])).toEqual(['ETIMEDOUT'])
  const forgotten = [...opened, 'reset b silently', 'a timer +10000ms', 'b→a #2 abort :7000']
  expect(await written(receive, forgotten)).toEqual(['ECONNRESET'])
})

test('TCP_USER_TIMEOUT ends a connection on which something has not arrived', async () => {
  const body = `s.connect(('b', 7000))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 3000)
print(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT), flush=True)
time.sleep(1)
s.send(b'x')
told(lambda: s.recv(1))
told(lambda: s.recv(1))`
  const steps = [...opened, 'partition a | b', 'a timer +1000ms', 'a timer +3000ms']
  expect(await written(body, steps)).toEqual(['3000', 'ETIMEDOUT', "b''"])
})

test('none of them runs on real time, and on an open way there is no timer', async () => {
  const body = `s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 100)
${keepAlive}told(lambda: s.recv(1))`
  const cluster = system(body)
  expect(await cluster.reset()).toEqual([])
  await take(cluster, opened[0]!)
  await sleep(2500)
  expect(timers(cluster)).toEqual([])
  await take(cluster, opened[1]!)
  await take(cluster, opened[2]!)
  expect(timers(cluster)).toEqual([])
  await take(cluster, 'partition a | b')
  expect(timers(cluster)).toEqual(['a timer +15000ms'])
  await take(cluster, 'heal')
  expect(timers(cluster)).toEqual([])
  expect(stdoutOf(cluster, 'a')).toEqual([''])
})

test.skipIf(!hasCriu())('a checkpoint keeps when a connection is given up (needs CRIU)', async () => {
  const cluster = system("s.setblocking(False)\ns.connect_ex(('b', 7000))\ntime.sleep(100)")
  expect(await cluster.reset()).toEqual([])
  for (const step of ['partition a | b', 'a timer +1000ms']) await take(cluster, step)
  expect(cluster.timers.flatMap(({ deadlinesMs }) => deadlinesMs)).toContain(127_000)
  await take(cluster, 'a timer +100000ms')
  const checkpoint = await cluster.checkpoints.save()
  expect(checkpoint.lacking).toBe(undefined)
  expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
  await checkpoint.discard()
  expect(timers(cluster)).toEqual(['a timer +27000ms'])
})
