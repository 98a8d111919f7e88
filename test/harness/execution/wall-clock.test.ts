import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Reads every wall clock and the monotonic one by the vDSO and by system calls, once a message comes. */
const reader = `
import ctypes, os, socket, time
libc = ctypes.CDLL(None, use_errno=True)
words = (ctypes.c_long * 2)()
def wall(how):
    how()
    return words[0]
def shown():
    walls = [
        int(time.time()),
        wall(lambda: libc.gettimeofday(words, None)),
        libc.time(None),
        wall(lambda: libc.clock_gettime(5, words)),
        wall(lambda: libc.syscall(228, 0, words)),
        wall(lambda: libc.syscall(96, words, None)),
        libc.syscall(201, None),
    ]
    open('file', 'w').close()
    walls.append(int(os.stat('file').st_mtime))
    return [int(each) - began for each in walls]
began = int(time.time())
mono = time.monotonic()
while True:
    print(*shown(), time.monotonic() - mono, flush=True)
    time.sleep(10)
`

test('every wall clock of the node jumps, and nothing else does; rewound, it is as it was', async () => {
  const cluster = clusterOf(
    { nodes: { p: { command: ['python3', 'reader.py'] }, other: { command: ['sleep', '100'] } }, faults: { clock: 2 } },
    { 'reader.py': reader },
  )
  const walls = (seconds: number) => Array.from({ length: 8 }, () => seconds).join(' ')
  for (const _ of [1, 2, 3]) {
    expect(await cluster.reset()).toEqual([])
    expect(labelsOf(cluster).filter(label => label.startsWith('clock p'))).toEqual([
      'clock p +1s',
      'clock p -1s',
      'clock p +1h',
      'clock p -1h',
    ])
    await take(cluster, 'clock p +1h')
    await take(cluster, 'p timer +10000ms')
    await take(cluster, 'clock p -1s')
    expect(labelsOf(cluster).filter(label => label.startsWith('clock'))).toEqual([])
    await take(cluster, 'p timer +10000ms')
    await take(cluster, 'other timer +100000ms')
    expect(stdoutOf(cluster, 'p')).toEqual([`${walls(0)} 0.0`, `${walls(3610)} 10.0`, `${walls(3619)} 20.0`])
  }
})

/** Three threads: one sleeps until an instant of the wall clock, one for as long, one waits for a timerfd of such an instant. */
const sleeper = `
import ctypes, os, struct, threading, time
libc = ctypes.CDLL(None, use_errno=True)
began = time.monotonic()
def at(seconds):
    return (ctypes.c_long * 2)(int(time.time()) + seconds, 0)
def say(what):
    print(what, round(time.monotonic() - began), flush=True)
def until():
    libc.clock_nanosleep(0, 1, at(1800), None)
    say('until')
def lasting():
    time.sleep(1801)
    say('for')
def timer():
    fd = libc.timerfd_create(0, 0)
    libc.timerfd_settime(fd, 1, (ctypes.c_long * 4)(0, 0, *at(1802)), None)
    os.read(fd, 8)
    say('timerfd')
for each in (until, lasting, timer): threading.Thread(target=each).start()
`

test('what waits until an instant of the wall clock is due sooner or later by a jump, and what lasts is not', async () => {
  const cluster = clusterOf(
    { nodes: { p: { command: ['python3', 'sleeper.py'] } }, faults: { clock: 2 } },
    { 'sleeper.py': sleeper },
  )
  const fired = async (...jumps: readonly string[]) => {
    await cluster.reset()
    for (const jump of jumps) await take(cluster, jump)
    for (let timer = timerOf(); timer !== undefined; timer = timerOf()) await take(cluster, timer)
    return stdoutOf(cluster, 'p')
  }
  const timerOf = () => labelsOf(cluster).find(label => label.startsWith('p timer'))
  expect(await fired()).toEqual(['until 1800', 'for 1801', 'timerfd 1802'])
  expect(await fired('clock p +1s', 'clock p +1s')).toEqual(['until 1798', 'timerfd 1800', 'for 1801'])
  expect(await fired('clock p +1h')).toEqual(['until 0', 'timerfd 0', 'for 1801'])
  expect(await fired('clock p -1h')).toEqual(['for 1801', 'until 5400', 'timerfd 5402'])
  expect(await fired('clock p -1h', 'clock p +1h')).toEqual(['until 1800', 'for 1801', 'timerfd 1802'])
})
