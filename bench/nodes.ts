/**
 * `node dist/bench/nodes.js [--rounds 200] [NAME…]`: what the first node alone costs a search: marking it, giving it a message or letting its
 * timer fire, and bringing it back. Services of `bench/services`, or configurations, from a state in the middle of their conversations. Times are of one
 * run: compare them only with each other.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

import { loadConfig } from '../cli/config/load-config.ts'
import { Cluster } from '../harness/cluster.ts'
import { resolveSystem } from '../harness/config/config.ts'
import { prepare } from './services/measure.ts'
import { services } from './services/services.ts'
import { row } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '200' }, steps: { type: 'string', default: '30' } },
})

/** Sixteen connections, of which one is used at a time. */
const connections = join(import.meta.dirname, 'connections.config.js')

const timed = async <Result>(into: number[], work: () => Result | Promise<Result>): Promise<Result> => {
  const begun = performance.now()
  const result = await work()
  into.push(performance.now() - begun)
  return result
}

/** Executes what a prompt network would, until the whole system can be marked in the middle of its conversations. */
const markInTheMiddle = async (cluster: Cluster) => {
  await cluster.reset()
  for (let step = 0; step < 1000; step++) {
    const enabled = cluster.enabled()
    const next = enabled.find(({ kind }) => kind === 'deliver') ?? enabled.find(({ kind }) => kind === 'timer')
    const mark = step >= Number(values.steps) && next?.kind !== 'deliver' ? await cluster.mark() : undefined
    if (mark) return mark
    await cluster.execute(next ?? enabled[0]!)
  }
  throw new Error(`no state could be marked: ${[...cluster.checkpoints.reasons.keys()].join(', ')}`)
}

const measure = async (name: string, directory: string): Promise<void> => {
  const path = /\.[jt]s$/.test(name) ? name : join(directory, prepare(name, services[name]!, directory))
  const { definition, directory: place } = await loadConfig(path)
  const cluster = new Cluster(resolveSystem(definition, { directory: place }), { seed: 1 })
  try {
    const whole = await markInTheMiddle(cluster)
    const [first] = cluster.state().nodes
    const node = cluster.nodes.alone(first!.name)
    const sight = (await node.beginAt!(whole))!
    const input = sight.enabled.find(({ kind }) => kind === 'timer') ?? sight.enabled[0]!
    const figures = { mark: [] as number[], input: [] as number[], back: [] as number[] }
    const mark = node.mark!()!
    for (let round = 0; round < Number(values.rounds); round++) {
      await timed(figures.input, () => node.enter({ choice: input.label }))
      const again = await timed(figures.mark, () => node.mark!()!)
      await timed(figures.back, () => node.goBack!(mark))
      again.discard()
    }
    const shownName = basename(name, '.config.js')
    row(`${shownName}: mark it`, shown(figures.mark), 'ms')
    row(`${shownName}: ${input.label}`, shown(figures.input), 'ms')
    row(`${shownName}: bring it back`, shown(figures.back), 'ms')
  } finally {
    cluster.close()
  }
}

const shown = (figures: number[]): string => {
  const sorted = figures.toSorted((one, other) => one - other)
  return [0.1, 0.5].map(part => sorted[Math.floor(part * sorted.length)]!.toFixed(2)).join(' / ')
}

const directory = mkdtempSync(join(tmpdir(), 'lastnail-nodes-'))
try {
  for (const name of positionals.length > 0 ? positionals : ['node', 'go-static', 'redis', 'python', connections]) {
    const own = mkdtempSync(join(directory, `service-`))
    await measure(name, own)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
