import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import { defineSystem, type NodeDefinition, type NodeHandle, resolveSystem } from '../../../harness/config/config.ts'
import { NativeCluster } from '../../../harness/native/native-cluster.ts'
import { handleOf } from '../../../harness/native/native-handle.ts'
import { clusterOf, directoryWith, take } from '../system.ts'

/** What a client gets of a node that is held. It may ask once. */
export const asked = async <Result>(
  node: NodeDefinition,
  ask: (node: NodeHandle) => Promise<Result>,
  files: Readonly<Record<string, string>> = {},
): Promise<{ value: Result; error: string | undefined; cluster: Cluster }> => {
  const cluster = clusterOf({ nodes: { n: node }, clients: { ask: ({ n }) => ask(n!) } }, files)
  const findings = await cluster.reset()
  if (findings.length > 0) throw new Error(findings[0]!.message)
  await take(cluster, 'client ask')
  const { value, error } = cluster.state().calls[0]!
  return { value: value as Result, error, cluster }
}

/** The same of a node that runs in real time, once it has written a line. */
export const askedNatively = async <Result>(
  definition: NodeDefinition,
  ask: (node: NodeHandle) => Promise<Result>,
  files: Readonly<Record<string, string>> = {},
): Promise<Result> => {
  const directory = directoryWith(files)
  const system = resolveSystem(defineSystem({ name: 'test', nodes: { n: definition } }), { directory })
  const cluster = await NativeCluster.open(system, { topology: undefined, hops: 'collapsed', seed: 1 })
  onTestFinished(() => cluster.close())
  const node = cluster.node('n')
  await cluster.join('n')
  while (!node.output().stdout.includes('\n')) {
    node.readOutput()
    await sleep(20)
  }
  const handle = handleOf(node)
  onTestFinished(() => handle.close())
  return ask(handle)
}

/** For as long as the test runs, the tool's own environment has a secret. */
export const withSecret = (): void => {
  process.env.LASTNAIL_TEST_SECRET = 'secret'
  onTestFinished(() => void delete process.env.LASTNAIL_TEST_SECRET)
}
