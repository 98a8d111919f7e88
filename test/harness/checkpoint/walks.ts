import { Random } from '../../../checker/system/random.ts'
import type { Cluster } from '../../../harness/cluster.ts'

/** All that can be seen of a cluster after a step. */
const seen = (cluster: Cluster) => {
  const { nodes, calls } = cluster.state()
  const { messages, outputs } = cluster.details
  return {
    fingerprint: cluster.fingerprint(),
    choices: cluster.enabled().map(({ label, due }) => (due === undefined ? label : `${label} at ${due} ms`)),
    timers: cluster.timers,
    packets: { ...cluster.running.packets },
    nodes,
    calls,
    messages: messages.map(({ label, bytes }) => [label, bytes.toString('hex')]),
    outputs: outputs.map(({ node, bytes }) => [node, bytes.toString('hex')]),
  }
}

/** What was executed, and what was seen after each step. */
export interface Walk {
  readonly labels: string[]
  readonly seen: ReturnType<typeof seen>[]
}

const noWalk = (): Walk => ({ labels: [], seen: [] })

/** Executes so many steps of whatever is offered. */
export const walkFrom = async (cluster: Cluster, steps: number, seed: number): Promise<Walk> => {
  const random = new Random(seed)
  const walk = noWalk()
  for (let step = 0; step < steps && cluster.enabled().length > 0; step++)
    await walkAlong(cluster, [random.pick(cluster.enabled()).label], walk)
  return walk
}

/** Executes these, and adds them to a walk; what is not offered ends it. */
export const walkAlong = async (cluster: Cluster, labels: readonly string[], walk = noWalk()): Promise<Walk> => {
  for (const label of labels) {
    const choice = cluster.enabled().find(each => each.label === label)
    if (choice === undefined) break
    await cluster.execute(choice)
    walk.labels.push(label)
    walk.seen.push(seen(cluster))
  }
  return walk
}
