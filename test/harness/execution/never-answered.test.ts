import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Connects once, and gives up after so many seconds; with 0 only when its kernel does. */
const client = `
import json, socket, sys
timeout = float(sys.argv[1]) or None
try:
  socket.create_connection(('server', 7000), timeout=timeout)
  said = 'connected'
except OSError as error:
  said = type(error).__name__
print(said, flush=True)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).recv(1)
`

const server = `
import socket
listener = socket.create_server(('', 7000))
while True: listener.accept()
`

const clusterWith = (seconds: number) =>
  clusterOf({
    nodes: {
      server: { command: ['python3', '-c', server], listens: 7000 },
      client: { command: ['python3', '-c', client, String(seconds)], after: ['server'] },
    },
    faults: { silent: 1 },
  })

const open = 'client→server #1 open :7000'

test.each([
  ['by its own time-out', 5, 'client timer +5000ms', 'TimeoutError'],
  // After the seven requests of tcp_syn_retries.
  ['by that of its kernel', 0, 'client timer +127000ms', 'TimeoutError'],
])('a request for a connection that is never answered ends %s', async (_, seconds, timer, said) => {
  const cluster = clusterWith(seconds)
  for (const _ of [1, 2]) {
    expect(await cluster.reset()).toEqual([])
    expect(labelsOf(cluster)).toEqual(expect.arrayContaining([open, 'crash server silently']))
    await take(cluster, 'crash server silently')
    // Nobody says anything to the client: all that it can still meet is time.
    expect(labelsOf(cluster).filter(label => label.includes('client'))).toEqual([timer])
    await take(cluster, timer)
    expect(stdoutOf(cluster, 'client')).toEqual([said])
  }
})

test('a late answer comes after the time-out, to nobody', async () => {
  const cluster = clusterWith(5)
  await cluster.reset()
  await take(cluster, 'client timer +5000ms')
  expect(stdoutOf(cluster, 'client')).toEqual(['TimeoutError'])
  await take(cluster, open)
  // The server has accepted a connection that nobody wants any more, and is told so.
  expect(labelsOf(cluster)).toContain('server→client #1 accept :7000')
  await take(cluster, 'server→client #1 accept :7000')
  expect(labelsOf(cluster).filter(label => label.startsWith('client→server'))).toEqual(['client→server #2 abort :7000'])
  await take(cluster, 'client→server #2 abort :7000')
  expect(stdoutOf(cluster, 'client')).toEqual(['TimeoutError'])
})
