import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { Unfaithful } from '../../../checker/system/errors.ts'
import { clusterOf, stdoutOf } from '../system.ts'
import { compile, hasCompiler, heldOutput, runOn } from './program.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0

/** A program wrote how long it had waited, in seconds: at least so long, and not much longer. */
const expectWaits = (lines: readonly string[], asked: readonly number[]) => {
  expect(lines).toHaveLength(asked.length)
  for (const [index, seconds] of asked.entries()) {
    expect(Number(lines[index])).toBeGreaterThanOrEqual(seconds)
    expect(Number(lines[index])).toBeLessThan(1.15 * seconds + 0.0007)
  }
}

describe('a loop that makes system calls until the clock has moved ends, about when it should, and each time alike', () => {
  test.skipIf(!hasPython)('in Python, with some work (needs python3)', async () => {
    const program = `
import os, socket, time, zlib
time.sleep(1)
a, b = socket.socketpair()
a.setblocking(False)
for seconds in (0.001, 0.1, 0.5, 0.001):
    begun = time.monotonic()
    rounds = 0
    while time.monotonic() - begun < seconds:
        rounds += 1
        try: a.send(zlib.compress(b'x' * 100))
        except BlockingIOError: b.recv(100000)
    print(time.monotonic() - begun, rounds, flush=True)
time.sleep(1000)
`
    const { lines, labels } = await heldOutput(['python3', '-c', program], 1)
    const rounds = lines.map(line => Number(line.split(' ')[1]))
    expectWaits(
      lines.map(line => line.split(' ')[0]!),
      [0.001, 0.1, 0.5, 0.001],
    )
    expect(Math.max(...rounds)).toBeLessThan(60_000)
    expect(labels).toEqual(['n timer +1000ms'])
  })

  const wait = `
    static double fired;
    static void fire(int number) { fired = now(); }
    static void wait_for(double seconds) {
      double begun = now(), until;
      while ((until = now()) - begun < seconds) getppid();
      printf("%.9f\\n", until - begun);
    }`

  test.skipIf(!hasCompiler)('in C, step after step, while timers fire at their instant (needs cc)', async () => {
    const body = `
      signal(SIGALRM, fire);
      for (int round = 0; round < 2; round++) {
        struct itimerval timer = {.it_value = {0, 20000}};
        double begun = now();
        setitimer(ITIMER_REAL, &timer, 0);
        wait_for(0.05);
        printf("%.9f\\n", fired - begun);
        wait_for(0.5);
        sleep(1);
      }`
    const { lines, labels } = await heldOutput([compile(body, { functions: wait })], 2)
    expectWaits(lines, [0.05, 0.02, 0.5, 0.05, 0.02, 0.5])
    expect(labels).toHaveLength(2)
  })

  test.skipIf(!hasCompiler)('while a second thread of the program waits for it (needs cc)', async () => {
    const functions = `${wait}
      #include <pthread.h>
      static int tell[2];
      static void *other(void *argument) { char byte; read(tell[0], &byte, 1); printf("told\\n"); wait_for(0.05); return 0; }`
    const body = `
      pipe(tell);
      pthread_t thread;
      pthread_create(&thread, 0, other, 0);
      wait_for(0.05);
      write(tell[1], "!", 1);
      pthread_join(thread, 0);`
    const { lines } = await heldOutput([compile(body, { functions, flags: ['-pthread'] })], 1)
    expectWaits([lines[0]!, lines[2]!], [0.05, 0.05])
    expect(lines[1]).toBe('told')
  })

  test.skipIf(!hasCompiler)(
    'but a program that makes fewer than 8,192 reads in a step has no time pass (needs cc)',
    async () => {
      const body = `
      double begun = now();
      for (int i = 0; i < 8000; i++) { now(); getppid(); }
      printf("%g\\n", now() - begun);`
      expect((await heldOutput([compile(body)], 1)).lines).toEqual(['0'])
    },
  )
})

describe('a loop that waits for the clock is no divergence', () => {
  /** As PySyncObj sends to a peer that takes nothing: what it has not sent grows. */
  const sends = (seconds: number, work = '') => `
import pickle, socket, struct, time, zlib
time.sleep(1)
a, b = socket.socketpair()
a.setblocking(False)
unsent = bytes()
def send():
    global unsent
    if time.monotonic() - begun > 30: raise TimeoutError
    while unsent:
        try: unsent = unsent[a.send(unsent):]
        except BlockingIOError: return
begun = time.monotonic()
while time.monotonic() - begun < ${seconds}:
    data = zlib.compress(pickle.dumps({'type': 'append_entries', 'term': 3}), 3)
    unsent += struct.pack('i', len(data)) + data
    send()
    ${work}
print(time.monotonic() - begun, flush=True)
time.sleep(1000)
`
  const begin = async (command: readonly [string, ...string[]], stepLimit: number) => {
    const cluster = clusterOf({ nodes: { n: { command } }, stepLimit })
    expect(await cluster.reset()).toEqual([])
    return cluster
  }

  test.skipIf(!hasPython)('though it works hard between two reads (needs python3)', async () => {
    const cluster = await begin(['python3', '-c', sends(0.1)], 2000)
    await runOn(cluster, 1)
    expectWaits(stdoutOf(cluster, 'n'), [0.1])
  })

  test.skipIf(!hasPython)(
    'and does not count if it ends only once its clock is set ahead (needs python3)',
    async () => {
      const cluster = await begin(['python3', '-c', sends(0.1, 'sum(range(100000))')], 1000)
      const step = cluster.execute(cluster.enabled()[0]!)
      await expect(step).rejects.toThrow(Unfaithful)
      await expect(step).rejects.toThrow(
        /n was still busy after \d+ ms of CPU time, until its clock was set ahead: it may/,
      )
      expect(await cluster.reset()).toEqual([])
    },
  )

  test.skipIf(!hasCompiler)('but one that goes on after that is (needs cc)', async () => {
    for (const body of ['for (;;) { now(); getppid(); }', 'for (;;) now();', 'for (volatile int i = 0;; i++);']) {
      const cluster = await begin([compile(body)], 600)
      const { findings } = await cluster.execute(cluster.enabled()[0]!)
      expect(findings).toMatchObject([
        { kind: 'divergence', message: expect.stringMatching(/^n (is still busy|spins)/) },
      ])
    }
  })
})
