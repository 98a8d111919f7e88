import { expect, onTestFinished, test } from 'vitest'
import { Budget } from '../../checker/budget.ts'
import { Solo } from '../../checker/cells/alone.ts'
import type { NodeSight } from '../../checker/node-system.ts'
import { Random } from '../../checker/random.ts'
import { Begin } from '../../checker/searches/local/beginning.ts'
import { loadConfig } from '../../cli/config/load-config.ts'
import { Cluster } from '../../harness/cluster.ts'
import { type GlobalState, resolveSystem } from '../../harness/config.ts'

const clusterOf = async (system: string): Promise<Cluster> => {
  const { definition, directory } = await loadConfig(`examples/corpus/${system}/lastnail.config.ts`)
  const cluster = new Cluster(resolveSystem(definition, { directory }), { seed: 1 })
  onTestFinished(() => cluster.close())
  return cluster
}

/** Executes messages, timers, calls and, where asked for, restarts at random. Gives what was executed, and where that led. */
const walkAtRandom = async (
  cluster: Cluster,
  { seed, withRestarts }: { seed: number; withRestarts: boolean },
): Promise<{ labels: string[]; state: GlobalState; enabled: readonly string[] }> => {
  const random = new Random(seed)
  const labels: string[] = []
  await cluster.reset()
  for (let step = 0; step < 40; step++) {
    const enabled = cluster
      .enabled()
      .filter(
        ({ kind, label }) =>
          ['deliver', 'timer', 'client'].includes(kind) || (withRestarts && /^reset n\d+$/.test(label)),
      )
    if (enabled.length === 0) break
    const choice = random.pick(enabled)
    await cluster.execute(choice)
    labels.push(choice.label)
  }
  return { labels, state: cluster.state(), enabled: cluster.enabled().map(({ label }) => label) }
}

/** The same by each node alone. */
const walkAlone = async (
  cluster: Cluster,
  labels: readonly string[],
): Promise<{ begin: Begin; state: GlobalState }> => {
  const { nodes } = cluster
  const solo = new Solo(nodes)
  const begin = new Begin(nodes.names, labels)
  const sights = new Map<string, NodeSight>()
  for (let task = begin.next(); task; task = begin.next()) {
    const { last } = await solo.perform(task, 0, new Budget({}))
    sights.set(task.start.node, last!)
    begin.learn(last)
  }
  return { begin, state: nodes.join(nodes.names.map(name => sights.get(name)!.state)) }
}

// Over TCP a restart takes numbers: what is sent to a life that is over is numbered in one and not in the other.
const systems = { paxos: { withRestarts: true }, chord: { withRestarts: false }, randtree: { withRestarts: false } }

for (const [system, { withRestarts }] of Object.entries(systems))
  test(`each node of ${system} alone behaves as in the whole system, with the same labels`, async () => {
    const cluster = await clusterOf(system)
    for (const seed of [1, 2]) {
      const whole = await walkAtRandom(cluster, { seed, withRestarts })
      const { begin, state } = await walkAlone(cluster, whole.labels)
      expect(state.nodes).toEqual(whole.state.nodes)
      const deliverable = whole.enabled.filter(label => /^n\d+→n\d+ #/.test(label))
      expect(begin.before.inFlight.map(({ label }) => label)).toEqual(expect.arrayContaining(deliverable))
    }
  })
