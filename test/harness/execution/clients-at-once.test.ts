import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import type { NamedHandles } from '../../../harness/clients/handles.ts'
import type { GlobalState } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, take } from '../system.ts'

/** Counts requests in a file. Each has a thread of its own; nobody minds that two may read the same count, but for `locked`. */
const server = `
import os, sys, threading
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
lock = threading.Lock() if sys.argv[1] == 'locked' else nullcontext()
class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        with lock:
            count = 1 + (int(open('count').read()) if os.path.exists('count') else 0)
            open('count', 'w').write(str(count))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(count).encode())
    def log_message(self, *_): pass
ThreadingHTTPServer(('', 8080), Handler).serve_forever()
`

const post = async ({ web }: NamedHandles) => (await web!.http(8080, '/', { method: 'POST' })).body.text()

const system = (how: 'locked' | 'unlocked', threads = 1) =>
  clusterOf(
    {
      nodes: { web: { command: ['python3', 'server.py', how], listens: 8080 } },
      clients: { ann: { run: post, times: 1 }, bob: { run: post, times: 1 } },
      threads,
    },
    { 'server.py': server },
  )

const properties = {
  distinct: always((state: GlobalState) => {
    const values = state.calls.flatMap(({ value }) => (value === undefined ? [] : [value]))
    return new Set(values).size === values.length
  }),
}

test('two requests to a server with a thread for each lose an update: found by one call at which a thread gives way', async () => {
  const verdict = await check(system('unlocked'), properties, { executions: 150, seed: 1 })
  expect(verdict).toMatchObject({ verdict: 'violated', property: 'distinct' })
  expect(verdict.schedule).toEqual([
    expect.stringMatching(/^preempt web before call \d+$/),
    'overlap client ann & client bob',
  ])
})

test('with a lock it is held', async () => {
  expect(await check(system('locked'), properties, { executions: 80, seed: 1 })).toMatchObject({ verdict: 'held' })
})

test('calls begin at once only where threads may give way; without that they are answered one after the other', async () => {
  const ordinary = system('unlocked', 0)
  await ordinary.reset()
  expect(labelsOf(ordinary)).toEqual(['client ann', 'client bob', 'web timer +500ms'])
  const cluster = system('unlocked')
  for (const _ of [1, 2]) {
    await cluster.reset()
    await take(cluster, 'overlap client ann & client bob')
    expect(cluster.state().calls.map(({ client, value }) => [client, value])).toEqual([
      ['ann', '1'],
      ['bob', '2'],
    ])
    expect(labelsOf(cluster).filter(label => label.includes('client'))).toEqual([])
  }
})
