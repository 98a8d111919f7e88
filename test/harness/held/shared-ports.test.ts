import { expect, test } from 'vitest'
import { clusterOf, stdoutOf, take } from '../system.ts'

/** Three workers that listen on one port; each answers with its own number. Told to, the second stops listening. */
const workers = `
import os, select, signal, socket, sys, threading, time
kind = sys.argv[1]
def listener(shares):
  listener = socket.socket()
  if shares: listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
  listener.bind(('', 7000))
  listener.listen(64)
  return listener
def answer(peer, name):
  asked = peer.recv(10)
  peer.send(name)
  peer.close()
  if asked == b'last' and name == b'1': sys.exit()
def accept(name, listener):
  while True: answer(listener.accept()[0], name)
def poll(name, listener):
  listener.setblocking(False)
  events = select.epoll()
  events.register(listener, select.EPOLLIN)
  while True:
    events.poll()
    try: peer, _ = listener.accept()
    except BlockingIOError: continue
    peer.setblocking(True)
    answer(peer, name)
common = listener(False) if 'common' in kind else None
def work(name): (poll if 'events' in kind else accept)(name, common or listener(True))
for name in (b'0', b'1', b'2'):
  if 'threads' in kind: threading.Thread(target=work, args=(name,)).start()
  elif os.fork() == 0: work(name)
while True: time.sleep(1e6)
`

const asker = `
import socket, sys, time
time.sleep(1)
answers = ''
for turn in range(20):
  with socket.create_connection((sys.argv[1], 7000)) as peer:
    peer.send(b'last' if turn >= 9 else b'more')
    answers += peer.recv(10).decode()
print(answers, flush=True)
while True: time.sleep(1e6)
`

const askerOfDatagrams = `
import socket, sys, time
time.sleep(1)
answers = ''
for turn in range(9):
  own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
  own.sendto(b'x', (sys.argv[1], 7000))
  answers += own.recv(10).decode()
print(answers, flush=True)
while True: time.sleep(1e6)
`

const datagramWorkers = `
import os, socket, time
for name in (b'0', b'1', b'2'):
  if os.fork() == 0:
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    own.bind(('', 7000))
    while True: own.sendto(name, own.recvfrom(10)[1])
while True: time.sleep(1e6)
`

/** Which worker had each connection, in executions on new processes in other namespaces, and on rewound ones. */
const answersOf = async (worker: string, ask: string, kind: string, executions: number): Promise<string[]> => {
  const make = () =>
    clusterOf(
      {
        nodes: {
          b: { command: ['python3', 'workers.py', kind] },
          a: { command: ['python3', 'asker.py', '{{b.address}}'] },
        },
      },
      { 'workers.py': worker, 'asker.py': ask },
    )
  const answers: string[] = []
  let cluster = make()
  for (let count = 0; count < executions; count++) {
    if (count % 2 === 0 && count > 0) cluster.close()
    if (count % 2 === 0 && count > 0) cluster = make()
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'a timer +1000ms')
    for (let next = nextMessage(cluster); next !== undefined; next = nextMessage(cluster)) await cluster.execute(next)
    answers.push(...stdoutOf(cluster, 'a'))
  }
  return answers
}

const nextMessage = (cluster: ReturnType<typeof clusterOf>) => cluster.enabled().find(({ kind }) => kind === 'deliver')

const same = (answers: readonly string[]) => new Set(answers).size === 1

test('the process that gets a connection of a port shared by SO_REUSEPORT is the same each time, also after one has ended', async () => {
  const answers = await answersOf(workers, asker, 'own sockets', 10)
  expect(answers).toHaveLength(10)
  expect(new Set(answers).size, answers.join()).toBe(1)
  expect(new Set(answers[0]!.slice(0, 9))).toEqual(new Set('012'))
  expect(new Set(answers[0]!.slice(-6))).toEqual(new Set('02'))
})

test('the same of threads that wait for events, and of datagrams', async () => {
  expect(same(await answersOf(workers, asker, 'own sockets, threads, events', 3))).toBe(true)
  const answers = await answersOf(datagramWorkers, askerOfDatagrams, '', 3)
  expect(answers[0]).toHaveLength(9)
  expect(new Set(answers).size, answers.join()).toBe(1)
})

test.each(['common', 'common, threads, events'])(
  'who of those that wait for one socket has a connection is the same each time (%s)',
  async kind => {
    const answers = await answersOf(workers, asker, kind, 3)
    expect(answers[0]).toHaveLength(20)
    expect(new Set(answers).size, answers.join()).toBe(1)
  },
)
