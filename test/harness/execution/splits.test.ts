import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { always } from '../../../checker/system/property.ts'
import { type GlobalState, jsonLines } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, take } from '../system.ts'

/** Votes for the lowest name that it hears, and leads if enough have voted for it for four seconds. */
const program = `
const [, , name, quorum, ...others] = process.argv
const udp = require('dgram').createSocket('udp4')
const heard = new Map()
let candidateSince
let leads = false
const fresh = () => [...heard].filter(([, { at }]) => Date.now() - at <= 1600)
const look = () => {
  const vote = [name, ...fresh().map(([other]) => other)].sort()[0]
  const votes = fresh().filter(([, { vote }]) => vote === name).length + (vote === name ? 1 : 0)
  candidateSince = votes >= quorum ? (candidateSince ?? Date.now()) : undefined
  const now = candidateSince !== undefined && Date.now() - candidateSince >= 4000
  if (now !== leads) console.log(JSON.stringify({ leads: now }))
  leads = now
  for (const other of others) udp.send(name + ' ' + vote, 7000, other)
}
udp.on('message', said => {
  const [other, vote] = String(said).split(' ')
  heard.set(other, { vote, at: Date.now() })
})
udp.bind(7000, () => setInterval(look, 1000))
console.log(JSON.stringify({ leads: false }))
`

const names = ['a', 'b', 'c', 'd']

const system = (quorum: number, partition: number) =>
  clusterOf(
    {
      nodes: Object.fromEntries(
        names.map(name => [
          name,
          {
            command: [
              'node',
              'node.js',
              name,
              String(quorum),
              ...names.filter(other => other !== name).map(other => `{{${other}.address}}`),
            ],
          },
        ]),
      ),
      state: jsonLines('stdout'),
      clocks: 'together',
      delay: '300ms',
      overlap: 0,
      faults: { partition: { times: partition, atLeast: '8s' } },
    },
    { 'node.js': program },
  )

const oneLeads = always<GlobalState>(
  state => state.nodes.filter(node => (node.state as { leads: boolean } | undefined)?.leads).length <= 1,
)

const search = (quorum: number, executions: number) =>
  check(system(quorum, 1), { oneLeads }, { executions, milliseconds: 90_000 })

test('half of the nodes are no majority: four are cut in two halves', { timeout: 200_000 }, async () => {
  const found = await search(2, 400)
  expect(found).toMatchObject({ verdict: 'violated', repeated: true })
  expect(found.schedule).toContainEqual(expect.stringMatching(/^(partition|cut) \w \w( \||→)/))
})

test('three of four nodes are a majority', { timeout: 200_000 }, async () => {
  expect(await search(3, 40)).toMatchObject({ verdict: 'held' })
})

test('a second cut may come before the first is healed, where it cuts any more; one heal ends both', async () => {
  const cluster = system(3, 2)
  await cluster.reset()
  const cuts = () => labelsOf(cluster).filter(label => /^(partition|cut) /.test(label))
  const all = cuts()
  expect(all).toContain('partition a b | c d')
  await take(cluster, 'partition a b | c d')
  // What is cut already is not cut again.
  expect(all.filter(label => !cuts().includes(label))).toEqual([
    ...['cut a→c', 'cut a→d', 'cut b→c', 'cut b→d', 'cut c→a', 'cut c→b', 'cut d→a', 'cut d→b'],
    ...['partition a | c', 'partition a | d', 'partition b | c', 'partition b | d'],
    ...['partition a b | c d', 'cut a b→c d', 'cut c d→a b'],
  ])
  await take(cluster, 'cut a→b')
  expect(cuts()).toEqual([])
  for (let step = 0; step < 200 && !labelsOf(cluster).includes('heal'); step++) {
    const timer = labelsOf(cluster).find(label => label.includes(' timer '))
    await take(cluster, timer ?? labelsOf(cluster)[0]!)
  }
  await take(cluster, 'heal')
  expect(labelsOf(cluster)).not.toContain('heal')
})
