import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import type { GlobalState } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

const reader = `
import socket, sys
server = socket.create_server(('', 7000))
while True:
    peer, _ = server.accept()
    pending = b''
    while True:
        said = peer.recv(1000)
        if not said: break
        pending += said
        print('read', said.decode(), flush=True)
        # One read is one request, unless it waits for the end of the line.
        if sys.argv[1] == 'lines' and not pending.endswith(b'\\n'): continue
        if sys.argv[1] != 'lines': pending = said
        peer.sendall(b'yes\\n' if pending == b'put 1\\n' else b'no\\n')
        pending = b''
`

const asker = `
import socket
peer = socket.create_connection(('reader', 7000))
peer.sendall(b'put 1\\n')
print('answer', peer.makefile().readline(), flush=True)
`

const system = (how: string, faults = { split: 1 }) =>
  clusterOf(
    {
      nodes: {
        reader: { command: ['python3', 'reader.py', how], listens: 7000 },
        asker: { command: ['python3', 'asker.py'] },
      },
      clients: {
        ann: {
          times: 1,
          run: ({ reader }) =>
            new Promise((resolve, reject) => {
              const socket = reader!.tcp(7000)
              let said = ''
              socket.on('data', data => {
                said += String(data)
                if (said.endsWith('\n')) socket.end(() => resolve(said))
              })
              socket.on('error', reject)
              socket.write('put 1\n')
            }),
        },
      },
      faults,
      overlap: 0,
    },
    { 'reader.py': reader, 'asker.py': asker },
  )

test('a message arrives in two parts, and others may come in between; rewound, it is whole again', async () => {
  const cluster = system('lines')
  for (const _ of [1, 2]) {
    await cluster.reset()
    await take(cluster, 'asker→reader #1 open :7000')
    await take(cluster, 'reader→asker #1 accept :7000')
    const splits = labelsOf(cluster).filter(label => label.startsWith('split'))
    expect(splits).toEqual([
      'split asker→reader #2 6 bytes :7000 "put 1" at 1',
      'split asker→reader #2 6 bytes :7000 "put 1" at 3',
      'split asker→reader #2 6 bytes :7000 "put 1" at 5',
      'split client ann at first',
      'split client ann at half',
      'split client ann at last',
    ])
    await take(cluster, splits[1]!)
    expect(stdoutOf(cluster, 'reader')).toEqual(['read put'])
    expect(labelsOf(cluster)).toEqual(['client ann', 'asker→reader #2 rest of 6 bytes :7000 "put 1"'])
    await take(cluster, 'asker→reader #2 rest of 6 bytes :7000 "put 1"')
    await take(cluster, labelsOf(cluster).find(label => label.startsWith('reader→asker'))!)
    expect(stdoutOf(cluster, 'asker')).toEqual(['answer yes'])
  }
})

const answered = always<GlobalState>(state => {
  const printed = state.node('asker').output.stdout
  return state.calls.every(({ value }) => value === undefined || value === 'yes\n') && !printed.includes('no')
})

test.each(['first', 'half', 'last'])('what a client writes arrives in two parts, taken apart at %s', async place => {
  const cluster = system('lines')
  await cluster.reset()
  await take(cluster, `split client ann at ${place}`)
  expect(cluster.state().calls).toMatchObject([{ value: 'yes\n' }])
  expect(stdoutOf(cluster, 'reader')).toHaveLength(2)
})

test.each([1, 2, 3])('a reader that takes one read for one request is found, seed %i', async seed => {
  const verdict = await check(system('reads'), { answered }, { executions: 40, seed })
  expect(verdict).toMatchObject({ verdict: 'violated' })
  expect(verdict.schedule!.filter(label => label.startsWith('split '))).toHaveLength(1)
})

test('one that waits for the end of a line is held', async () => {
  expect(await check(system('lines'), { answered }, { executions: 40, seed: 1 })).toMatchObject({
    verdict: 'held',
  })
})
