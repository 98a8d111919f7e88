import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clusterOf, directoryWith, stdoutOf } from '../system.ts'

test('a yielding thread is waited for only as long as the thread that it waits for needs', async () => {
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

/** Thread 1 needs what thread 0 does next, and has a greater rank. */
const spinning = (wait: string) => `
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int go, done;
static volatile unsigned long count;
static void *run(void *unused) {
  while (!go) { ${wait} }
  done = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  go = 1;
  pthread_join(thread, 0);
  printf("done %d\\n", done);
  fflush(stdout);
  for (;;) pause();
}
`

const compiled = (source: string) => {
  const directory = directoryWith({ 'spin.c': source })
  execFileSync('cc', ['-O1', '-pthread', '-o', join(directory, 'spin'), join(directory, 'spin.c')])
  return clusterOf({ nodes: { p: { command: [join(directory, 'spin')] } } })
}

const hasCompiler = spawnSync('cc', ['--version']).status === 0

describe.skipIf(!hasCompiler)('a thread that spins (needs cc)', () => {
  test('lets the thread that it waits for go first, and the execution repeats', async () => {
    const cluster = compiled(spinning(''))
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'p')).toEqual(['done 1'])
    expect(cluster.disturbance()).toBe(undefined)
  })

  test('is cut short where it counts its rounds: what the execution shows is no evidence', async () => {
    const cluster = compiled(spinning('count++;'))
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'p')).toEqual(['done 1'])
    expect(cluster.disturbance()).toMatch(/^p computed for half a second without a wait/)
  })

  test('for ever is a divergence, long before its CPU time is spent', async () => {
    const cluster = compiled('int main(void) { volatile int go = 0; while (!go) {} }')
    const [finding] = await cluster.reset()
    expect(finding).toMatchObject({ kind: 'divergence', node: 'p' })
    expect(finding!.message).toContain(
      'p spins in a few instructions (its thread 0, counted from 0), and nothing else of it runs',
    )
  })

  test('that only yields for ever is one as early; that counts its rounds goes on', async () => {
    const cluster = compiled('#include <sched.h>\nint main(void) { volatile int go = 0; while (!go) sched_yield(); }')
    const [finding] = await cluster.reset()
    expect(finding!.message).toContain('p spins in a few instructions (its thread 0, counted from 0)')
    const counts = `
      #include <sched.h>
      #include <stdio.h>
      #include <unistd.h>
      int main(void) {
        for (volatile int rounds = 0; rounds < 2000; rounds++) sched_yield();
        for (int rounds = 0; rounds < 2000; rounds++) sched_yield();
        puts("through");
        fflush(stdout);
        for (;;) pause();
      }`
    const counting = compiled(counts)
    expect(await counting.reset()).toEqual([])
    expect(stdoutOf(counting, 'p')).toEqual(['through'])
  })

  test.each(['', 'sched_yield();'])('until another has slept is no divergence: time passes (%s)', async wait => {
    const sleeping = `
      #include <pthread.h>
      #include <sched.h>
      #include <stdio.h>
      #include <unistd.h>
      static volatile int go;
      static void *run(void *unused) { sleep(1); go = 1; return 0; }
      int main(void) {
        pthread_t thread;
        pthread_create(&thread, 0, run, 0);
        while (!go) { ${wait} }
        puts("came");
        fflush(stdout);
        for (;;) pause();
      }`
    const cluster = compiled(sleeping)
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'p')).toEqual(['came'])
  })

  /** Both of them do this; `wakes` is done by a third. */
  const two = (wakes: string, both: string) => `
    #include <pthread.h>
    #include <sched.h>
    #include <stdio.h>
    #include <unistd.h>
    static volatile int go, turn, through;
    static void *wake(void *unused) { ${wakes} return 0; }
    static void *one(void *mine) { int me = mine != 0; ${both} through++; return 0; }
    int main(void) {
      pthread_t waker, other;
      pthread_create(&waker, 0, wake, 0);
      pthread_create(&other, 0, one, &other);
      one(0);
      pthread_join(other, 0);
      printf("through %d\\n", through);
      fflush(stdout);
      for (;;) pause();
    }`
  const yieldUntil = (condition: string) => `while (!(${condition})) sched_yield();`

  test('and another, which give way to each other until a third has slept, do not hold it up', async () => {
    const cluster = compiled(two('sleep(1); go = 1;', yieldUntil('go')))
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'p')).toEqual(['through 2'])
  })

  test('and another, which give way to each other for ever, are a divergence', async () => {
    const [finding] = await compiled(two('for (;;) pause();', yieldUntil('go'))).reset()
    expect(finding).toMatchObject({ kind: 'divergence', node: 'p' })
    expect(finding!.message).toContain('p spins in a few instructions')
  })

  test('and another, which wait for each other by turns, go on', async () => {
    const byTurns = `for (int round = 0; round < 3000; round++) { ${yieldUntil('turn == me')} turn = !me; }`
    const cluster = compiled(two('for (;;) pause();', byTurns))
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'p')).toEqual(['through 2'])
  })
})
