import { defineSystem, type NodeDefinition, resolveSystem } from '../../harness/config/config.ts'
import { NativeCluster } from '../../harness/native/native-cluster.ts'
import { planOf } from '../../harness/timed/wiring.ts'
import type { Pipe, Topology } from '../../topologies/topology.ts'

export interface NativeRun {
  readonly cluster: NativeCluster
  /** The output of a node so far. */
  output(name: string): string
  /** Propagation from one node to another by the model, in milliseconds. */
  delayMs(from: string, to: string): number
}

/**
 * Runs nodes over a topology while some work is done. At its begin no node has started.
 *
 * @param seed of what the pipes lose
 */
export const natively = async <Result>(
  nodes: Readonly<Record<string, NodeDefinition>>,
  topology: Topology | undefined,
  work: (run: NativeRun) => Promise<Result>,
  seed = 1,
): Promise<Result> => {
  const system = resolveSystem(defineSystem({ name: 'bench', nodes }), { directory: import.meta.dirname })
  const wiring = { topology, hops: 'collapsed', seed } as const
  const cluster = await NativeCluster.open(system, wiring)
  const outputs = new Map<string, string>()
  const { pipes, routes } = planOf(cluster.nodes, wiring)
  const indexOf = (name: string) => cluster.nodes.findIndex(each => each.name === name)
  try {
    const result = work({
      cluster,
      output: name => {
        // Also of one that has ended.
        const text = (outputs.get(name) ?? '') + cluster.node(name).readOutput().stdout
        outputs.set(name, text)
        return text
      },
      delayMs: (from, to) => {
        const route = routes.find(each => each.from === indexOf(from) && each.to === indexOf(to))!
        return route.pipes.reduce((sum, pipe) => sum + pipes[pipe]!.delayMs, 0)
      },
    })
    return await Promise.race([result, cluster.failed])
  } finally {
    await cluster.close()
  }
}

/** Two nodes, `a` and `b`, with a pipe there and another back. */
export const pair = (there: Pipe, back: Pipe = { delayMs: there.delayMs }): Topology => ({
  nodes: ['a', 'b'].map(id => ({ id, role: 'client' })),
  links: [{ from: 'a', to: 'b', class: 'client-stub', ...there, back }],
})
