import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'
import { heldOutput } from './program.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0

describe.skipIf(!hasPython)(
  'a program that looks for events until the clock has passed a deadline (needs python3)',
  () => {
    /** As Ruby waits: a wait that ends at its deadline is repeated without waiting, until the clock is past it. */
    const waitPast = `
import select, socket, threading, time
a, b = socket.socketpair()
def wait_past(seconds):
    end = time.monotonic() + seconds
    looks = 0
    while True:
        select.select([a], [], [], max(0, end - time.monotonic()))
        looks += 1
        if time.monotonic() > end: return looks
`

    test('sees it passed, by no more than some nanoseconds', async () => {
      const program = `${waitPast}
begun = time.monotonic()
print(wait_past(2) < 1000, time.monotonic() - begun < 2.000001, flush=True)
time.sleep(1000)
`
      const { lines, labels } = await heldOutput(['python3', '-c', program], 1)
      expect(lines).toEqual(['True True'])
      expect(labels).toEqual(['n timer +2000ms'])
    })

    test('does not keep threads that began earlier from what they do at that deadline', async () => {
      const program = `${waitPast}
woken = []
def sleep(name):
    time.sleep(2)
    woken.append(name)
for name in 'ab': threading.Thread(target=sleep, args=name).start()
def watch():
    wait_past(2)
    while len(woken) < 2: select.select([a], [], [], 0)
    print(*sorted(woken), flush=True)
threading.Thread(target=watch).start()
time.sleep(1000)
`
      const { lines } = await heldOutput(['python3', '-c', program], 1)
      expect(lines).toEqual(['a b'])
    })

    test('sees it passed where it waits for a lock until then, as Puma does', async () => {
      const program = `
import ctypes, time
system_call, word = ctypes.CDLL(None).syscall, ctypes.c_int(0)
futex, wait_until = 202, 9 | 128
end = time.monotonic_ns() + 2_000_000_000
until = (ctypes.c_long * 2)(*divmod(end, 1_000_000_000))
waits = 0
while time.monotonic_ns() <= end:
    system_call(futex, ctypes.byref(word), wait_until, 0, until, None, -1)
    waits += 1
print(waits < 1000, flush=True)
time.sleep(1000)
`
      const { lines } = await heldOutput(['python3', '-c', program], 1)
      expect(lines).toEqual(['True'])
    })

    test('sees it passed where it sleeps for no time between its looks', async () => {
      const program = `
import time
end = time.monotonic() + 0.01
while time.monotonic() < end: time.sleep(0)
print('over', flush=True)
time.sleep(1000)
`
      const { lines } = await heldOutput(['python3', '-c', program], 0)
      expect(lines).toEqual(['over'])
    })

    const keepsAsking = `
import select, socket, threading, time
full, _ = socket.socketpair()
inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
inbox.bind(('0.0.0.0', 7000))
def ask(timeout):
    readable, _, _ = select.select([inbox], [full], [], timeout)
    time.monotonic()
    return readable
`

    test('waits where it is offered room to write again and again, until another thread has done something', async () => {
      const program = `${keepsAsking}
done = []
def work():
    for n in range(2): time.sleep(2)
    done.append(n)
threading.Thread(target=work).start()
while not done: ask(3)
print('done', time.monotonic(), flush=True)
time.sleep(1000)
`
      const { lines, labels, notes } = await heldOutput(['python3', '-c', program], 2)
      expect(lines).toEqual(['done 1004.0'])
      expect(labels).toEqual(['n timer +2000ms', 'n timer +2000ms'])
      expect(notes).toEqual([
        'n: a thread asks for events again and again, and does nothing with the answer: it counts as waiting for others',
      ])
    })

    test('waits so for a message, also where it goes back to a state that was marked meanwhile', async () => {
      const program = `${keepsAsking}
while True:
    if ask(3): print(inbox.recv(9).decode(), flush=True)
`
      const sends = `
import socket, time
for text in b'one', b'two':
    time.sleep(1)
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(text, ('n', 7000))
time.sleep(1000)
`
      const cluster = clusterOf({
        nodes: { n: { command: ['python3', '-c', program] }, m: { command: ['python3', '-c', sends] } },
      })
      const tillEnd = async () => {
        for (const begin of ['m→n #1', 'm timer', 'm→n #2'])
          await take(cluster, labelsOf(cluster).find(label => label.startsWith(begin))!)
        return { lines: stdoutOf(cluster, 'n'), labels: labelsOf(cluster) }
      }
      await cluster.reset()
      await take(cluster, 'm timer +1000ms')
      const mark = await cluster.checkpoint()
      const first = await tillEnd()
      expect(first.lines).toEqual(['one', 'two'])
      expect(mark).toBeDefined()
      await cluster.restore(mark!)
      expect(await tillEnd()).toEqual(first)
      await mark!.discard()
    })

    for (const wait of ['select.epoll().poll(days)', 'select.select([], [], [], days)', 'time.sleep(days)'])
      test(`a wait beyond ninety days never ends, as no clock of a node can show its instant: ${wait}`, async () => {
        const program = `
import select, time
days = 20 * 24 * 3600
while True:
    ${wait}
    print(round((time.monotonic() - 1000) / 24 / 3600), flush=True)
`
        const { lines, labels } = await heldOutput(['python3', '-c', program], 6)
        expect(lines).toEqual(['20', '40', '60', '80'])
        expect(labels.length).toBe(4)
      })
  },
)
