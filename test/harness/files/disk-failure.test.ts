import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { type GlobalState, jsonLines } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, printedAfter, stdoutOf, take } from '../system.ts'

const writer = `
import os, socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
file = os.open('log', os.O_CREAT | os.O_WRONLY)
def tried(what):
    try:
        return what()
    except OSError as error:
        return error.strerror
while True:
    _, peer = udp.recvfrom(100)
    print(*[tried(lambda: os.write(file, b'12345678')) for _ in range(3)], tried(lambda: os.fsync(file)), flush=True)
    udp.sendto(b'done', peer)
`

test('a sync fails, a disk is full, a write is short, in the next step alone; rewound, nothing is left of it', async () => {
  const cluster = clusterOf(
    {
      nodes: { store: { command: ['python3', 'writer.py'] } },
      clients: { ann: { times: 2, run: async ({ store }) => String(await store!.udp(7000, 'go')) } },
      faults: { disk: 1 },
    },
    { 'writer.py': writer },
  )
  const after = async (label: string) => printedAfter(cluster, () => take(cluster, label))
  const usual = '8 8 8 None'
  const full = 'No space left on device'
  expect(await after('disk store fails at sync 1')).toEqual(['8 8 8 Input/output error', usual])
  expect(await after('disk store is full from write 2')).toEqual([`8 ${full} ${full} None`, usual])
  expect(await after('disk store takes half of write 3')).toEqual(['8 8 4 None', usual])
  expect(await after('disk store fails at sync 2')).toEqual([usual, usual])
})

/** Acknowledges what it has synced: whether that worked or not, or only if it did. What could not be written is not acknowledged. */
const store = (heeds: boolean) => `
import json, os, socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
file = os.open('log', os.O_CREAT | os.O_RDWR | os.O_APPEND)
directory = os.open('.', os.O_RDONLY)
os.fsync(directory)
print(json.dumps({'stored': os.fstat(file).st_size}), flush=True)
while True:
    _, peer = udp.recvfrom(100)
    try:
        os.write(file, b'x')
    except OSError:
        continue
    try:
        os.fsync(file)
    except OSError:
        if ${heeds ? 'True' : 'False'}: continue
    print(json.dumps({'stored': os.fstat(file).st_size}), flush=True)
    udp.sendto(b'done', peer)
`

const stores = (heeds: boolean) =>
  clusterOf(
    {
      nodes: { store: { command: ['python3', 'store.py'] } },
      state: jsonLines(),
      clients: { ann: { times: 3, run: async ({ store }) => String(await store!.udp(7000, 'go')) } },
      faults: { disk: 1, power: 1 },
    },
    { 'store.py': store(heeds) },
  )

const kept = always<GlobalState>(state => {
  const { stored } = (state.node('store').state ?? {}) as { stored?: number }
  return stored === undefined || stored >= state.calls.filter(({ value }) => value === 'done').length
})

test.each([1, 2])('a store that does not heed the error of fsync is found, seed %i', async seed => {
  const verdict = await check(stores(false), { kept }, { executions: 1500, seed })
  expect(verdict).toMatchObject({ verdict: 'violated' })
  expect(verdict.schedule!.map(label => label.split(' ')[0])).toEqual(['disk', 'client', 'power', 'restart'])
})

test('one that heeds it is held', async () => {
  expect(await check(stores(true), { kept }, { executions: 100, seed: 1 })).toMatchObject({ verdict: 'held' })
})

const overwriter = `
import os, socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
file = os.open('log', os.O_CREAT | os.O_RDWR)
os.write(file, b'old.' * 2)
while True:
    _, peer = udp.recvfrom(100)
    written = os.pwrite(file, b'new.', 4), os.write(file, b'end.')
    os.fsync(file)
    print(*written, os.pread(file, 100, 0), flush=True)
    udp.sendto(b'done', peer)
`

test('a write is lost, misdirected or rots, and nobody is told', async () => {
  const cluster = clusterOf(
    {
      nodes: { store: { command: ['python3', 'overwriter.py'] } },
      clients: { ann: { times: 1, run: async ({ store }) => String(await store!.udp(7000, 'go')) } },
      faults: { disk: { times: 1, only: ['lost', 'misdirected', 'rotten'] } },
    },
    { 'overwriter.py': overwriter },
  )
  const after = async (label: string) => {
    await cluster.reset()
    expect(labelsOf(cluster).filter(each => each.startsWith('disk store fails'))).toEqual([])
    await take(cluster, label)
    await take(cluster, 'client ann')
    return stdoutOf(cluster, 'store')
  }
  expect(await after('disk store loses write 1')).toEqual(["4 4 b'old.old.end.'"])
  expect(await after('disk store loses write 2')).toEqual(["4 4 b'old.new.\\x00\\x00\\x00\\x00'"])
  expect(await after('disk store misdirects write 1')).toEqual(["4 4 b'new.old.end.'"])
  expect(await after('disk store rots write 1')).toEqual(["4 4 b'old.nev.end.'"])
})

/** Keeps a word with a checksum, and reads it again for each request: with a look at that or without. */
const summed = (looks: boolean) => `
import json, os, socket, zlib
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
file = os.open('log', os.O_CREAT | os.O_RDWR)
word = b'x' * 1000
while True:
    _, peer = udp.recvfrom(100)
    os.pwrite(file, zlib.crc32(word).to_bytes(4, 'big') + word, 0)
    kept = os.pread(file, 2000, 0)
    if ${looks ? 'True' : 'False'} and zlib.crc32(kept[4:]).to_bytes(4, 'big') != kept[:4]: continue
    print(json.dumps({'stored': 0 if kept[4:] == word else -1}), flush=True)
    udp.sendto(b'done', peer)
`

test('a bit that rots is found where nobody looks at the checksum, and one that looks is held', async () => {
  const system = (looks: boolean) =>
    clusterOf(
      {
        nodes: { store: { command: ['python3', 'summed.py'] } },
        state: jsonLines(),
        clients: { ann: { times: 2, run: async ({ store }) => String(await store!.udp(7000, 'go')) } },
        faults: { disk: { times: 1, only: ['rotten'] } },
      },
      { 'summed.py': summed(looks) },
    )
  const whole = always<GlobalState>(
    state => (state.node('store').state as { stored?: number } | undefined)?.stored !== -1,
  )
  const verdict = await check(system(false), { whole }, { executions: 200, seed: 1 })
  expect(verdict).toMatchObject({ verdict: 'violated' })
  expect(verdict.schedule).toEqual(['disk store rots write 1', 'client ann'])
  expect(await check(system(true), { whole }, { executions: 60, seed: 1 })).toMatchObject({ verdict: 'held' })
})
