import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from './system.ts'

/** A shell that stops itself. Its child lets it go on, or does not. */
const stopping = (later: string) =>
  ['bash', '-c', `(sleep 1; ${later}) & kill -STOP $$; echo on; sleep 1000`] as [string, ...string[]]

test('a node that stops itself goes on when it is told to, and costs no waiting', { timeout: 120_000 }, async () => {
  const cluster = clusterOf({ nodes: { n: { command: stopping('kill -CONT $$') } } })
  const begun = performance.now()
  for (let times = 0; times < 3; times++) {
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'n')).toEqual([''])
    expect((await take(cluster, 'n timer +1000ms')).findings).toEqual([])
    expect(stdoutOf(cluster, 'n')).toEqual(['on'])
    expect(labelsOf(cluster)).toEqual(['n timer +1000000ms'])
  }
  // 20 s were waited for it to stop, twice an execution.
  expect(performance.now() - begun).toBeLessThan(20_000)
  expect(cluster.notes()).toEqual([expect.stringContaining('was started anew: a signal has stopped it')])
})

test('one that nobody lets go on stays stopped', async () => {
  const cluster = clusterOf({ nodes: { n: { command: stopping('true') } } })
  await cluster.reset()
  await take(cluster, 'n timer +1000ms')
  expect([stdoutOf(cluster, 'n'), labelsOf(cluster)]).toEqual([[''], []])
})

test('a process that was stopped while it waited waits on', async () => {
  const program = `
import os, signal, time
child = os.fork()
if child == 0:
    begun = time.monotonic()
    time.sleep(3)
    print('slept', time.monotonic() - begun, flush=True)
    os._exit(0)
time.sleep(1)
os.kill(child, signal.SIGSTOP)
time.sleep(1)
os.kill(child, signal.SIGCONT)
print('ended', os.waitpid(child, 0)[1], flush=True)
time.sleep(1000)
`
  const cluster = clusterOf({ nodes: { n: { command: ['python3', '-S', '-E', '-c', program] } } })
  for (let times = 0; times < 3; times++) {
    await cluster.reset()
    for (const label of ['n timer +1000ms', 'n timer +1000ms', 'n timer +1000ms']) await take(cluster, label)
    expect(stdoutOf(cluster, 'n')).toEqual(['slept 3.0', 'ended 0'])
  }
})

test('a node of hundreds of processes is started anew, which takes less than a mark', {
  timeout: 120_000,
}, async () => {
  const program = `
import os, time
for _ in range(200):
    if os.fork() == 0: time.sleep(1000)
print('forked', flush=True)
time.sleep(1)
print('slept', flush=True)
time.sleep(1000)
`
  const cluster = clusterOf({ nodes: { n: { command: ['python3', '-S', '-E', '-c', program] } } })
  for (let times = 0; times < 2; times++) {
    await cluster.reset()
    await take(cluster, 'n timer +1000ms')
    expect(stdoutOf(cluster, 'n')).toEqual(['forked', 'slept'])
  }
  expect(cluster.notes()).toEqual([expect.stringContaining('was started anew: it has more than 128 processes')])
})
