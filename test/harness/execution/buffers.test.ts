import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { type GlobalState, jsonLines } from '../../../harness/config/config.ts'
import { runOn } from '../held/program.ts'
import { clusterOf, labelsOf, stdoutOf } from '../system.ts'

/** The programs of the page. */
const page = readFileSync('docs/buffers.md', 'utf8')
const program = (name: string): string => page.split(`\`\`\`py ${name}\n`)[1]!.split('```')[0]!

const publisher = (env: Readonly<Record<string, string>> = {}, buffers?: string) =>
  clusterOf({
    nodes: {
      publisher: { command: ['python3', '-c', program('publisher.py')], env, listens: 7000 },
      subscriber: { command: ['python3', '-c', program('subscriber.py')] },
    },
    state: jsonLines(),
    ...(buffers && { buffers }),
    clients: { ann: { run: async ({ publisher }) => String(await publisher!.udp(7000, 'publish')), times: 2 } },
  })

const wholeRecords = always<GlobalState>(state => (state.node('subscriber').state?.bytes ?? 1000) === 1000)

test('a writer that drops what a full buffer does not take is found, and only with small buffers', async () => {
  const verdict = await check(publisher({}, '4KB'), { wholeRecords }, { executions: 50, seed: 1 })
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'wholeRecords' })
  expect(await check(publisher(), { wholeRecords }, { executions: 20, seed: 1 })).toMatchObject({ verdict: 'held' })
})

test('one that waits for room is held, and nothing is lost', async () => {
  const whole = await check(publisher({ ALL: '1' }, '4KB'), { wholeRecords }, { executions: 20, seed: 1 })
  expect(whole).toMatchObject({ verdict: 'held' })
})

/** Each peer sends so many bytes, and reads as many: one after the other, or both at once. */
const peer = `
import signal, socket, sys, threading
own, manner, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
other = socket.create_connection(('right', 7000)) if own == 'left' else socket.create_server(('', 7000)).accept()[0]
def read():
  got = 0
  while got < count: got += len(other.recv(65536))
  print('{"done": true}', flush=True)
if manner == 'both':
  thread = threading.Thread(target=read)
  thread.start()
  other.sendall(bytes(count))
  thread.join()
else:
  other.sendall(bytes(count))
  read()
signal.pause()
`

const peers = (manner: 'both' | 'one', count: number) =>
  clusterOf({
    nodes: {
      right: { command: ['python3', '-c', peer, 'right', manner, String(count)], listens: 7000 },
      left: { command: ['python3', '-c', peer, 'left', manner, String(count)], after: ['right'] },
    } as never,
    state: jsonLines(),
    buffers: '4KB',
  })

test.each([
  ['one', 40_000, ''],
  ['one', 8_000, '{"done": true}'],
  ['both', 40_000, '{"done": true}'],
] as const)('two peers write before they read (%s), %i bytes each', async (manner, count, expected) => {
  const cluster = peers(manner, count)
  expect(await cluster.reset()).toEqual([])
  await runOn(cluster, 60)
  expect(labelsOf(cluster)).toEqual([])
  expect(['left', 'right'].flatMap(name => stdoutOf(cluster, name))).toEqual([expected, expected])
})

test('what a full buffer takes is the same in each execution, on new processes and on rewound ones', async () => {
  const cluster = peers('both', 40_000)
  const execute = async () => {
    expect(await cluster.reset()).toEqual([])
    const steps = await runOn(cluster, 60)
    return { steps, left: labelsOf(cluster), printed: ['left', 'right'].map(name => stdoutOf(cluster, name)) }
  }
  const first = await execute()
  expect(first.printed).toEqual([['{"done": true}'], ['{"done": true}']])
  for (let count = 2; count <= 6; count++) {
    if (count % 2 === 0) cluster.endLives()
    expect(await execute()).toEqual(first)
  }
})
