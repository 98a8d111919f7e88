import { expect, test } from 'vitest'
import { clusterOf, stdoutOf } from './system.ts'

test('a thread that yields is waited for no longer than the one that it waits for needs', async () => {
  const cluster = clusterOf(
    { nodes: { p: { command: ['/usr/bin/python3', 'yields.py'] } } },
    {
      'yields.py': `
import ctypes, threading, time
libc = ctypes.CDLL(None)
asked, isDone = 0, False
def wait():
    global asked
    while not isDone:
        asked += 1
        libc.sched_yield()
waiter = threading.Thread(target=wait)
waiter.start()
isDone = True
waiter.join()
print(asked, flush=True)
time.sleep(1e9)
`,
    },
  )
  for (let again = 0; again < 2; again++) {
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'p')).toEqual(['1'])
    cluster.endLives()
  }
})
