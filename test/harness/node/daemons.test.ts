import { expect, onTestFinished, test } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import type { NodeDefinition } from '../../../harness/config/config.ts'
import { copyOfFixtures, lastnail } from '../../cli/lastnail.ts'
import { has } from '../../has.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

const python = (program: string, rest: Partial<NodeDefinition> = {}): NodeDefinition => ({
  command: ['python3', '-S', '-E', '-c', program],
  ...rest,
})

/** Fires the first timer so often, and returns how it went. */
const run = async (cluster: Cluster, steps: number) => {
  const labels: string[] = []
  for (let step = 0; step < steps && labelsOf(cluster)[0] !== undefined; step++) {
    labels.push(labelsOf(cluster)[0]!)
    const { findings } = await cluster.execute(cluster.enabled()[0]!)
    if (findings.length > 0) return { labels, findings, lines: stdoutOf(cluster, 'd') }
  }
  return { labels, findings: [], lines: stdoutOf(cluster, 'd') }
}

/** How three executions go, on new processes and on rewound ones. */
const thrice = async (node: NodeDefinition, steps: number) => {
  const cluster = clusterOf({ nodes: { d: node } })
  const execute = async () => {
    const started = await cluster.reset()
    return started.length > 0 ? { labels: [], findings: started, lines: [] } : run(cluster, steps)
  }
  const first = await execute()
  for (let times = 0; times < 2; times++) expect(await execute()).toEqual(first)
  return { ...first, cluster }
}

/** Ends twice before it goes on, as daemons do. */
const daemon = (body: string, before = '') => `
import os, time, sys, fcntl, signal, threading
def say(*what): print(*what, flush=True)
${before}
if os.fork() > 0: os._exit(0)
os.setsid()
if os.fork() > 0: os._exit(0)
${body}`

test('a daemon lives on when its first process has ended, and is marked and rewound', async () => {
  const { labels, lines, cluster } = await thrice(
    python(
      daemon(
        `for i in range(9): time.sleep(1); say(i, os.getppid(), len([p for p in os.listdir('/proc') if p.isdigit()]))`,
      ),
    ),
    3,
  )
  expect(labels).toEqual(Array(3).fill('d timer +1000ms'))
  // The process between the two has ended, and somebody waited for it.
  expect(lines).toEqual(['0 1 2', '1 1 2', '2 1 2'])
  const checkpoint = (await cluster.mark())!
  const further = await run(cluster, 2)
  await cluster.restore(checkpoint)
  expect(await run(cluster, 2)).toEqual(further)
  expect([cluster.starts, cluster.notes()]).toEqual([1, []])
})

test('what an end frees is free: pipes, locks and alarms of the first process, and its threads', async () => {
  const { lines, findings } = await thrice(
    python(
      daemon(
        `
os.close(writing)
say('end of the pipe', os.read(reading, 1))
lock = open('/tmp/lock', 'w')
say('lock', fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB))
say('first', open('/proc/1/comm').read().strip(), os.listdir('/proc/1/task'))
time.sleep(2)
say('here')
time.sleep(1000)`,
        `
reading, writing = os.pipe()
held = open('/tmp/lock', 'w')
fcntl.lockf(held, fcntl.LOCK_EX)
signal.alarm(1)
threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
`,
      ),
    ),
    1,
  )
  expect(findings).toEqual([])
  expect(lines).toEqual([`end of the pipe b''`, 'lock None', `first init ['1']`, 'here'])
})

test.each([
  ['os._exit(3)', 'd ended with code 3'],
  ['os.kill(os.getpid(), signal.SIGSEGV)', 'd was killed by signal 11'],
  ['os.abort()', 'd was killed by signal 6'],
])('a daemon that ends by %s has crashed', async (end, message) => {
  const { findings } = await thrice(python(daemon(`time.sleep(1)\n${end}`)), 2)
  expect(findings).toMatchObject([{ kind: 'crash', node: 'd', message: expect.stringContaining(message) }])
})

test('a daemon that a client kills has crashed', async () => {
  const killed = daemon(`open('/tmp/pid', 'w').write(str(os.getpid()))\ntime.sleep(1000)`)
  const cluster = clusterOf({
    nodes: { d: python(killed) },
    // A killed process is gone some time after `kill` has returned.
    clients: { kill: async ({ d }) => (await d!.exec(['sh', '-c', 'kill -9 $(cat /tmp/pid); sleep 0.5'])).exitCode },
  })
  expect(await cluster.reset()).toEqual([])
  const { findings } = await take(cluster, labelsOf(cluster).find(label => label.includes('kill'))!)
  expect(findings).toMatchObject([{ kind: 'crash', message: expect.stringContaining('d was killed by signal 9') }])
})

test.each(['os._exit(0)', 'os.kill(os.getpid(), signal.SIGTERM)'])(
  'a daemon that ends by %s has ended, and that is no crash',
  async end => {
    const { findings, cluster } = await thrice(python(daemon(`time.sleep(1)\n${end}`)), 2)
    expect(findings).toEqual([])
    expect(labelsOf(cluster)).toEqual([])
  },
)

test('a first process that fails takes the others with it: the node has crashed', async () => {
  const node = python('import os, time\nif os.fork() == 0: time.sleep(1000)\ntime.sleep(1)\nos._exit(4)')
  const { findings, labels } = await thrice(node, 2)
  expect(labels).toEqual(['d timer +1000ms'])
  expect(findings).toMatchObject([{ kind: 'crash', message: expect.stringContaining('d ended with code 4') }])
})

test('whom the first process killed before its end does not make it a daemon', async () => {
  const node = python(
    'import os, time\nchild = os.fork()\nif child == 0: time.sleep(1000)\ntime.sleep(1)\nos.kill(child, 9)\nos._exit(0)',
  )
  const { findings, cluster } = await thrice(node, 2)
  expect([findings, labelsOf(cluster)]).toEqual([[], []])
})

test('a shell leaves a program in the background', async () => {
  const { lines, labels } = await thrice({ command: ['sh', '-c', '(sleep 1; echo later; sleep 1000) & exit 0'] }, 1)
  expect([labels, lines]).toEqual([['d timer +1000ms'], ['later']])
})

test('a node that ends while it starts is no daemon', async () => {
  const { findings } = await thrice(python('import os\nif os.fork() == 0: os._exit(0)\nos._exit(0)'), 1)
  expect(findings).toMatchObject([{ kind: 'crash', message: expect.stringContaining('d ended with code 0') }])
})

test('it is killed with all that it left, and starts again', async () => {
  const cluster = clusterOf({
    nodes: { d: python(daemon(`for i in range(9): say(i); time.sleep(1)`)) },
    faults: { crash: { times: 1 } },
  })
  await cluster.reset()
  await take(cluster, 'd timer +1000ms')
  await take(cluster, 'crash d')
  expect(labelsOf(cluster)).toEqual(['restart d'])
  await take(cluster, 'restart d')
  await take(cluster, 'd timer +1000ms')
  expect(stdoutOf(cluster, 'd').at(-1)).toBe('1')
})

test.skipIf(!has('redis-server'))('redis-server --daemonize yes is a node (needs redis-server)', async () => {
  const cluster = clusterOf({
    nodes: {
      d: { command: ['redis-server', '--daemonize', 'yes', '--save', '', '--port', '7000'], listens: 7000 },
    },
    clients: {
      ping: async ({ d }) => (await d!.exec(['redis-cli', '-p', '7000', 'ping'])).stdout.trim(),
    },
  })
  expect(await cluster.reset()).toEqual([])
  await take(cluster, labelsOf(cluster).find(label => label.includes('ping'))!)
  expect(cluster.state().calls).toMatchObject([{ value: 'PONG' }])
})

const killing = {
  'before it first runs': 'if child == 0: time.sleep(1000)\nos.kill(child, 9)',
  'while it computes': 'if child == 0:\n  while True: pass\nos.kill(-1, 9)',
  'with a signal to all': 'if child == 0: time.sleep(1)\nos.kill(-1, 9)\nprint("x", flush=True)',
}

test.each(Object.entries(killing))('a child is killed %s', async (_, body) => {
  const { findings, labels } = await thrice(python(`import os, time\nchild = os.fork()\n${body}\ntime.sleep(1000)`), 2)
  expect([findings, labels]).toEqual([[], ['d timer +1000000ms']])
})

test('so it is at the pace native, on the clock of this machine', { timeout: 60_000 }, async () => {
  const { directory, remove } = copyOfFixtures({
    'daemons.config.mjs': `
      import { always, defineSystem, sometimes } from 'lastnail'
      const inBackground = command => ({ command: ['sh', '-c', '(' + command + ') & exit 0'] })
      export default defineSystem({
        name: 'daemons',
        nodes: { stays: inBackground('sleep 1000'), ends: inBackground('sleep 0.5') },
        properties: {
          stays: always(s => s.node('stays').alive),
          ends: sometimes(s => !s.node('ends').alive),
        },
      })`,
  })
  onTestFinished(remove)
  const { code, stdout } = await lastnail(directory, 'emulate', 'daemons.config.mjs', '--pace', 'native', '--for', '3s')
  expect([code, stdout]).toEqual([0, expect.stringContaining('held')])
})
