/**
 * `node dist/bench/marks.js [--walks 20] [--steps 24] [--no-criu] [NAME…]`: what marks of services of `bench/services` cost, and
 * whether they restore the marked state. Random executions are marked at random places and rewound to a mark at others. New
 * processes then execute each such schedule again. Times are of one run: compare them only with each other.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from '../checker/system/random.ts'
import { loadConfig } from '../cli/config/load-config.ts'
import { Cluster } from '../harness/cluster.ts'
import { type ResolvedSystem, resolveSystem } from '../harness/config/config.ts'
import { ClusterMark } from '../harness/execution/mark.ts'
import { prepare } from './services/measure.ts'
import { services } from './services/services.ts'
import { median, row } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    walks: { type: 'string', default: '20' },
    steps: { type: 'string', default: '24' },
    criu: { type: 'boolean', default: true },
  },
})

interface Walk {
  readonly labels: string[]
  readonly seen: string[]
}

const seenOf = (cluster: Cluster): string => {
  const { messages, outputs } = cluster.details
  return JSON.stringify({
    fingerprint: cluster.fingerprint(),
    choices: cluster.enabled().map(({ label }) => label),
    timers: cluster.timers,
    nodes: cluster.state().nodes,
    messages: messages.map(({ label, bytes }) => [label, bytes.toString('hex')]),
    outputs: outputs.map(({ node, bytes }) => [node, bytes.toString('hex')]),
  })
}

const step = async (cluster: Cluster, walk: Walk, label: string): Promise<boolean> => {
  const choice = cluster.enabled().find(each => each.label === label)
  if (choice === undefined) return false
  await cluster.execute(choice)
  walk.labels.push(label)
  walk.seen.push(seenOf(cluster))
  return true
}

const copyOf = ({ labels, seen }: Walk): Walk => ({ labels: [...labels], seen: [...seen] })

const figures = {
  mark: [] as number[],
  back: [] as number[],
  way: [] as number[],
  save: [] as number[],
  load: [] as number[],
}

const timed = async <Result>(into: number[], work: () => Promise<Result>): Promise<Result> => {
  const begun = performance.now()
  const result = await work()
  into.push(performance.now() - begun)
  return result
}

/** Marks are kept for their own execution and the next one, as in a check. */
const wander = async (cluster: Cluster, random: Random) => {
  const walks: Walk[] = []
  let [marked, refused] = [0, 0]
  let marks: { mark: ClusterMark; walk: Walk }[] = []
  await cluster.reset()
  while (walks.length < Number(values.walks)) {
    await cluster.reset()
    let walk: Walk = { labels: [], seen: [] }
    const fresh: typeof marks = []
    for (let index = 0; index < Number(values.steps) && cluster.enabled().length > 0; index++) {
      const known = [...marks, ...fresh]
      if (known.length > 0 && random.next() < 0.15) {
        walks.push(walk)
        const { mark, walk: before } = random.pick(known)
        await timed(figures.back, () => cluster.restore(mark))
        walk = copyOf(before)
      }
      await step(cluster, walk, random.pick(cluster.enabled()).label)
      if (cluster.enabled().length === 0 || random.next() > 0.2) continue
      const mark = await timed(figures.mark, () => cluster.checkpoint())
      if (mark instanceof ClusterMark) fresh.push({ mark, walk: copyOf(walk) })
      else refused += 1
    }
    walks.push(walk)
    marked += fresh.length
    marks = fresh
  }
  return { walks, marked, refused }
}

/** The way to a state of twenty steps, and a checkpoint there by CRIU. */
const others = async (cluster: Cluster, walks: readonly Walk[]): Promise<void> => {
  for (const { labels } of walks.filter(walk => walk.labels.length >= 20).slice(0, 7)) {
    await timed(figures.way, async () => {
      await cluster.reset()
      for (const label of labels.slice(0, 20)) await step(cluster, { labels: [], seen: [] }, label)
    })
    if (!values.criu) continue
    const saved = await timed(figures.save, () => cluster.checkpoints.save())
    if (saved.lacking) throw new Error(`not saved: ${saved.lacking}`)
    await timed(figures.load, () => cluster.checkpoints.goBack(saved))
    await saved.discard()
  }
}

const using = async <Result>(system: ResolvedSystem, rewind: boolean, use: (cluster: Cluster) => Promise<Result>) => {
  const cluster = new Cluster(system, { seed: 1, rewind })
  try {
    return await use(cluster)
  } finally {
    cluster.close()
  }
}

const measure = async (name: string, directory: string): Promise<void> => {
  for (const list of Object.values(figures)) list.length = 0
  const { definition } = await loadConfig(join(directory, prepare(name, services[name]!, directory)))
  const system = resolveSystem(definition, { directory })
  const { walks, marked, refused } = await using(system, true, async cluster => {
    const found = await wander(cluster, new Random(1))
    await others(cluster, found.walks)
    for (const note of cluster.notes()) console.log(`${name}: ${note}`)
    return found
  })
  const same = await using(system, false, async cluster => {
    let count = 0
    for (const { labels, seen } of walks) {
      await cluster.reset()
      const again: Walk = { labels: [], seen: [] }
      for (const label of labels) if (!(await step(cluster, again, label))) break
      const at = seen.findIndex((each, index) => each !== again.seen[index])
      if (at === -1) count += 1
      else console.log(`${name}: step ${at + 1} (${labels[at]}) differed with new processes`)
    }
    return count
  })
  row(`${name}: ways from marks the same`, `${same} of ${walks.length}`, 'ways')
  row(`${name}: states marked in place`, `${marked} of ${marked + refused}`, 'states')
  for (const [what, list] of Object.entries(figures))
    if (list.length > 0) row(`${name}: ${what}`, median(list).toFixed(1), 'ms')
}

const names = positionals.length > 0 ? positionals : ['node', 'python', 'asyncio', 'go-static', 'redis']
for (const name of names) {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-marks-'))
  try {
    await measure(name, directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
