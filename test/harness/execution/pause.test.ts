import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { type GlobalState, jsonLines, type SystemDefinition } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

const start = Date.UTC(2026, 0, 1)

const files = {
  'server.js': `
    const at = () => Date.now() - ${start}
    require('net').createServer(socket => {
      socket.on('data', data => { console.log(String(data), at()); socket.end('done') }).on('error', () => {})
    }).listen(7000)
    setTimeout(() => console.log('late', at()), 500)`,
  'client.js': `
    require('net').connect(7000, 'server', function () { this.write('word') }).on('error', () => {}).resume()
    setInterval(() => {}, 1000)`,
  // The holder's lease lasts one second, and the other takes over after two. Serving takes the holder 10 ms.
  'holder.js': `
    const until = Date.now() + 1000
    const mayServe = () => Date.now() < until
    require('http').createServer((_, response) => {
      response.end()
      const serve = () => console.log(JSON.stringify({ served: Date.now() }))
      if (mayServe()) setTimeout(() => (process.argv[2] === 'once' || mayServe()) && serve(), 10)
    }).listen(8080)`,
  'other.js': `
    setTimeout(() => console.log(JSON.stringify({ took: Date.now() })), 2000)
    setInterval(() => {}, 5000)`,
}

const talk = (options: Partial<SystemDefinition> = {}) =>
  clusterOf(
    {
      nodes: { server: { command: ['node', 'server.js'], listens: 7000 }, client: { command: ['node', 'client.js'] } },
      faults: { pause: 1 },
      overlap: 0,
      ...options,
    },
    files,
  )

const pauses = (labels: readonly string[]) => labels.filter(label => /^(pause|resume) /.test(label))

test('a paused node does nothing while the clocks of others go on, and is then as late', async () => {
  const cluster = talk()
  for (const _ of [1, 2]) {
    expect(await cluster.reset()).toEqual([])
    await take(cluster, 'client→server #1 open :7000')
    await take(cluster, 'server→client #1 accept :7000')
    expect(pauses(labelsOf(cluster))).toEqual(['pause server', 'pause client'])
    await take(cluster, 'pause server')
    // Its timer waits, and no budget is left.
    expect(labelsOf(cluster)).toEqual([
      'client→server #2 4 bytes :7000 "word"',
      'client timer +1000ms',
      'resume server',
    ])
    await take(cluster, 'client timer +1000ms')
    // What arrives waits in its kernel.
    await take(cluster, 'client→server #2 4 bytes :7000 "word"')
    await take(cluster, 'client timer +1000ms')
    expect(stdoutOf(cluster, 'server')).toEqual([''])
    await take(cluster, 'resume server')
    expect(stdoutOf(cluster, 'server').sort()).toEqual(['late 2000', 'word 2000'])
    expect(pauses(labelsOf(cluster))).toEqual([])
  }
})

test('what a client says to a paused node waits too, and its state is what it last was', async () => {
  const cluster = lease('once', { pause: 1 })
  await cluster.reset()
  await take(cluster, 'pause holder')
  await take(cluster, 'client ann')
  expect(cluster.state().calls).toMatchObject([{ client: 'ann', completedAt: undefined }])
  await take(cluster, 'resume holder')
  expect(cluster.state().calls).toMatchObject([{ client: 'ann', value: 200 }])
})

const lease = (looks: 'once' | 'again', faults: SystemDefinition['faults']) =>
  clusterOf(
    {
      nodes: {
        holder: { command: ['node', 'holder.js', looks], listens: 8080 },
        other: { command: ['node', 'other.js'] },
      },
      state: jsonLines('stdout'),
      clients: { ann: async ({ holder }) => (await holder!.http(8080, '/')).statusCode },
      clocks: 'together',
      faults,
    },
    files,
  )

const said = (state: GlobalState, node: string) => state.node(node).state as Record<string, number> | undefined
const oneServes = always<GlobalState>(state => {
  const [served, took] = [said(state, 'holder')?.served, said(state, 'other')?.took]
  return served === undefined || took === undefined || served < took
})

test('a holder that looks at its clock once serves after another took over, if it may be paused; one that looks again does not', {
  timeout: 120_000,
}, async () => {
  const search = (looks: 'once' | 'again', faults: SystemDefinition['faults'], executions = 60) =>
    check(lease(looks, faults), { oneServes }, { executions })
  const found = await search('once', { pause: 1 }, 500)
  expect(found).toMatchObject({ verdict: 'violated', property: 'oneServes', repeated: true })
  expect(pauses(found.schedule)).toEqual(['pause holder', 'resume holder'])
  expect(await search('again', { pause: 1 })).toMatchObject({ verdict: 'held' })
  expect(await search('once', {})).toMatchObject({ verdict: 'held' })
})

test('a node that was paused when all processes were ended is not paused in the next execution', async () => {
  const cluster = talk()
  await cluster.reset()
  const first = pauses(labelsOf(cluster))
  await take(cluster, 'pause server')
  cluster.endLives()
  await cluster.reset()
  expect(pauses(labelsOf(cluster))).toEqual(first)
})
