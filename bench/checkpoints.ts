/**
 * `node dist/bench/checkpoints.js [node|python|redis] [--rounds 15] [--steps 20]`: what it takes to save one process and a
 * cell of three that speak to each other, so many steps after their start, and to go back there; beside a beginning on
 * the same processes rewound in place, and one on new processes. Where nodes have no connection (`ring.ts`, UDP), also what it takes
 * to mark that state and to go back there in place, beside executing the way again on rewound processes.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from '../checker/system/random.ts'
import type { Cluster } from '../harness/cluster.ts'
import { defineSystem, type ResolvedSystem, resolveSystem } from '../harness/config/config.ts'
import { ClusterMark } from '../harness/execution/mark.ts'
import { ringSystemOf } from './ring.ts'
import { median, row, whole } from './table.ts'
import { type Kind, systemOf } from './trio.ts'
import { withCluster } from './with-cluster.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '15' }, steps: { type: 'string', default: '20' } },
})
const kind = (positionals[0] ?? 'node') as Kind
const rounds = Number(values.rounds)
const root = join(import.meta.dirname, '../..')

const alone: Record<Kind, readonly string[]> = {
  node: ['node', '-e', 'setInterval(() => console.log(Date.now()), 700)'],
  python: ['python3', '-c', 'import time\nwhile True: time.sleep(0.7); print(time.time(), flush=True)'],
  redis: ['redis-server', '--save', '', '--hz', '1', '--dynamic-hz', 'no'],
}
const systemOfOne = () =>
  resolveSystem(defineSystem({ name: 'one', nodes: { n: { command: alone[kind] } } }), { directory: root })

const time = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

const walk = async (cluster: Cluster, random: Random): Promise<void> => {
  for (let step = 0; step < Number(values.steps) && cluster.enabled().length > 0; step++)
    await cluster.execute(random.pick(cluster.enabled()))
}

const measure = async (what: string, system: ResolvedSystem): Promise<void> => {
  const figures = {
    start: [] as number[],
    reset: [] as number[],
    save: [] as number[],
    back: [] as number[],
    bytes: [] as number[],
  }
  await withCluster(system, async cluster => {
    await cluster.reset()
    for (let round = 0; round < rounds; round++) {
      figures.start.push(await withCluster(system, other => time(() => other.reset())))
      figures.reset.push(await time(() => cluster.reset()))
      await walk(cluster, new Random(round))
      const begun = performance.now()
      const checkpoint = await cluster.checkpoints.save()
      figures.save.push(performance.now() - begun)
      if (checkpoint.lacking) throw new Error(`not saved: ${checkpoint.lacking}`)
      figures.bytes.push(checkpoint.bytes)
      figures.back.push(await time(() => cluster.checkpoints.goBack(checkpoint)))
      await checkpoint.discard()
    }
  })
  row(`${what}: plain start`, median(figures.start).toFixed(1), 'ms')
  row(`${what}: start rewound in place`, median(figures.reset).toFixed(1), 'ms')
  row(`${what}: save`, median(figures.save).toFixed(1), 'ms')
  row(`${what}: go back`, median(figures.back).toFixed(1), 'ms')
  row(`${what}: files`, whole(median(figures.bytes) / 1024), 'KiB')
}

const execute = async (cluster: Cluster, labels: readonly string[]): Promise<void> => {
  await cluster.reset()
  for (const label of labels) await cluster.execute(cluster.enabled().find(choice => choice.label === label)!)
}

const measureMarks = async (what: string, system: ResolvedSystem): Promise<void> => {
  const figures = { mark: [] as number[], back: [] as number[], way: [] as number[] }
  await withCluster(system, async cluster => {
    await cluster.reset()
    for (let round = 0; round < rounds; round++) {
      await cluster.reset()
      const labels: string[] = []
      const random = new Random(round)
      for (let step = 0; step < Number(values.steps) && cluster.enabled().length > 0; step++) {
        const choice = random.pick(cluster.enabled())
        labels.push(choice.label)
        await cluster.execute(choice)
      }
      const begun = performance.now()
      const checkpoint = await cluster.checkpoint()
      figures.mark.push(performance.now() - begun)
      if (!(checkpoint instanceof ClusterMark)) throw new Error(`not marked in place: ${cluster.notes()}`)
      // From a state beyond it.
      await walk(cluster, random)
      figures.back.push(await time(() => cluster.restore(checkpoint)))
      await walk(cluster, random)
      figures.way.push(await time(() => execute(cluster, labels)))
    }
    if (cluster.notes().length > 0) throw new Error(`not all of it was done in place: ${cluster.notes()}`)
  })
  row(`${what}: mark in place`, median(figures.mark).toFixed(1), 'ms')
  row(`${what}: go back in place`, median(figures.back).toFixed(1), 'ms')
  row(`${what}: execute the way again`, median(figures.way).toFixed(1), 'ms')
}

if (kind !== 'redis') {
  await measureMarks(`one ${kind} process`, systemOfOne())
  await measureMarks(`three ${kind} processes, UDP`, ringSystemOf(`${kind}, udp`))
}
await measure(`one ${kind} process`, systemOfOne())
await measure(`a cell of three ${kind} processes`, await systemOf(kind, root))
