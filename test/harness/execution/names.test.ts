import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Says its own name to whoever asks. */
const server = `
import os, socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
while True:
    _, asker = udp.recvfrom(100)
    udp.sendto(socket.gethostname().encode(), asker)
`

/** Prints the address of the name, as it was at the start and as it is now, once a second. */
const asker = `
import socket, time
def address():
    return socket.getaddrinfo('Primary.db', 7000, socket.AF_INET)[0][4][0]
first = address()
while True:
    print(first, address(), flush=True)
    time.sleep(1)
`

const files = { 'server.py': server, 'asker.py': asker }
const db = { command: ['python3', 'server.py'] }
const nodes = { db1: db, db2: db, db3: db, app: { command: ['python3', 'asker.py'] } }

test('a name means another node of its list from then on; rewound, it means the first', async () => {
  const cluster = clusterOf({ nodes, names: { 'primary.DB': ['db1', 'db2'] }, faults: { name: 2 } }, files)
  const { db1, db2 } = cluster.addresses
  for (const _ of [1, 2]) {
    expect(await cluster.reset()).toEqual([])
    expect(labelsOf(cluster).filter(label => label.startsWith('name'))).toEqual(['name primary.db is db2'])
    await take(cluster, 'name primary.db is db2')
    await take(cluster, 'app timer +1000ms')
    expect(labelsOf(cluster).filter(label => label.startsWith('name'))).toEqual(['name primary.db is db1'])
    await take(cluster, 'name primary.db is db1')
    await take(cluster, 'app timer +1000ms')
    expect(labelsOf(cluster).filter(label => label.startsWith('name'))).toEqual([])
    expect(stdoutOf(cluster, 'app')).toEqual([`${db1} ${db1}`, `${db1} ${db2}`, `${db1} ${db1}`])
  }
})

test('a mark keeps what names mean, and states differ by it', async () => {
  const cluster = clusterOf({ nodes, names: { 'primary.db': ['db1', 'db2', 'db3'] }, faults: { name: 1 } }, files)
  const { db1, db3 } = cluster.addresses
  await cluster.reset()
  const before = cluster.fingerprint()
  await take(cluster, 'name primary.db is db3')
  expect(cluster.fingerprint()).not.toBe(before)
  const mark = await cluster.mark()
  await take(cluster, 'app timer +1000ms')
  await cluster.restore(mark!)
  await take(cluster, 'app timer +1000ms')
  expect(stdoutOf(cluster, 'app')).toEqual([`${db1} ${db1}`, `${db1} ${db3}`])
})

test('of limits the nodes that a name comes to mean, and a name needs a budget', async () => {
  const names = { 'primary.db': ['db1', 'db2', 'db3'] }
  const some = clusterOf({ nodes, names, faults: { name: { times: 1, of: ['db3'] } } }, files)
  await some.reset()
  expect(labelsOf(some).filter(label => label.startsWith('name'))).toEqual(['name primary.db is db3'])
  const none = clusterOf({ nodes, names }, files)
  await none.reset()
  expect(labelsOf(none).filter(label => label.startsWith('name'))).toEqual([])
})
