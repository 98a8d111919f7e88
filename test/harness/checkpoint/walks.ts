import { Random } from '../../../checker/random.ts'
import type { Cluster } from '../../../harness/cluster.ts'

/** All that can be seen of a cluster after a step. */
const seen = (cluster: Cluster) => {
  const { nodes, calls } = cluster.state()
  const { messages, outputs } = cluster.details
  return {
    fingerprint: cluster.fingerprint(),
    choices: cluster.enabled().map(({ label }) => label),
    timers: cluster.timers,
    nodes,
    calls,
    messages: messages.map(({ label, bytes }) => [label, bytes.toString('hex')]),
    outputs: outputs.map(({ node, bytes }) => [node, bytes.toString('hex')]),
  }
}

export interface Walk {
  readonly labels: readonly string[]
  /** What was seen after each step. */
  readonly seen: readonly ReturnType<typeof seen>[]
}

/** Executes so many steps of whatever is offered. */
export const walkFrom = async (cluster: Cluster, steps: number, seed: number): Promise<Walk> => {
  const random = new Random(seed)
  const walk = { labels: [] as string[], seen: [] as ReturnType<typeof seen>[] }
  for (let step = 0; step < steps && cluster.enabled().length > 0; step++) {
    const choices = cluster.enabled()
    const { label } = choices[random.below(choices.length)]!
    await walkAlong(cluster, [label], walk)
  }
  return walk
}

/** Executes these; what is not offered ends it. */
export const walkAlong = async (
  cluster: Cluster,
  labels: readonly string[],
  walk = { labels: [] as string[], seen: [] as ReturnType<typeof seen>[] },
): Promise<Walk> => {
  for (const label of labels) {
    const choice = cluster.enabled().find(each => each.label === label)
    if (choice === undefined) break
    await cluster.execute(choice)
    walk.labels.push(label)
    walk.seen.push(seen(cluster))
  }
  return walk
}
