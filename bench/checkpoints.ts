/**
 * `node dist/bench/checkpoints.js [node|python|redis] [--rounds 15] [--steps 20]`: what it takes to save one process and a
 * cell of three that speak to each other, so many steps after their start, and to go back there; beside a beginning on
 * the same processes brought back in place, and one on new processes.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from '../checker/random.ts'
import type { Cluster } from '../harness/cluster.ts'
import { defineSystem, type ResolvedSystem, resolveSystem } from '../harness/config.ts'
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
      const checkpoint = await cluster.save()
      figures.save.push(performance.now() - begun)
      if (checkpoint.lacking) throw new Error(`not saved: ${checkpoint.lacking}`)
      figures.bytes.push(checkpoint.bytes)
      figures.back.push(await time(() => cluster.goBack(checkpoint)))
      await checkpoint.discard()
    }
  })
  row(`${what}: plain start`, median(figures.start).toFixed(1), 'ms')
  row(`${what}: start brought back in place`, median(figures.reset).toFixed(1), 'ms')
  row(`${what}: save`, median(figures.save).toFixed(1), 'ms')
  row(`${what}: go back`, median(figures.back).toFixed(1), 'ms')
  row(`${what}: files`, whole(median(figures.bytes) / 1024), 'KiB')
}

await measure(`one ${kind} process`, systemOfOne())
await measure(`a cell of three ${kind} processes`, await systemOf(kind, root))
