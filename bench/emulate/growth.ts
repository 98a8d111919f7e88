/** Packets a second, and CPU time for each, with 2 to 100 nodes that all send at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { row, whole } from '../table.ts'
import { natively } from './natively.ts'

const seconds = 5
const name = (index: number) => `n${index + 1}`

for (const count of [2, 10, 25, 50, 100]) {
  const nodes = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      name(index),
      // A flood: each answer is followed by the next packet at once.
      { command: ['sh', '-c', `exec busybox ping -A -q {{${name((index + 1) % count)}.address}}`] },
    ]),
  )
  await natively(nodes, undefined, async ({ cluster }) => {
    const names = Object.keys(nodes)
    const pipe = { delayMs: 0 }
    await cluster.set(names.flatMap(from => names.filter(to => to !== from).map(to => ({ from, to, pipe }))))
    for (const name of names) await cluster.join(name)
    await sleep(1000)
    const [before, used] = [cluster.counts, process.cpuUsage()]
    await sleep(1000 * seconds)
    const packets = cluster.counts.forwarded - before.forwarded
    const { user, system } = process.cpuUsage(used)
    row(`${count} nodes: packets through the router`, whole(packets / seconds), 'a second')
    row('  CPU time of the tool for each', ((user + system) / packets).toFixed(1), 'µs')
  })
}
