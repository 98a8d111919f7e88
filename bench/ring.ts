import { join } from 'node:path'
import type { Choice } from '../checker/system/system.ts'
import { Cluster } from '../harness/cluster.ts'
import { defineSystem, jsonLines, type ResolvedSystem, resolveSystem } from '../harness/config/config.ts'

const programs = {
  'node, udp': ['node', 'ring.cjs', 'udp'],
  'node, tcp': ['node', 'ring.cjs', 'tcp'],
  'python, udp': ['/usr/bin/python3', 'ring.py'],
} as const
export type Kind = keyof typeof programs

/** Three processes that exchange messages for ever, and log each message that they receive. */
export const ringOf = (kind: Kind): Cluster => new Cluster(ringSystemOf(kind))

export const ringSystemOf = (kind: Kind): ResolvedSystem => {
  const node = (next: string) => ({ command: [...programs[kind], `{{${next}.address}}`] })
  const definition = defineSystem({
    name: 'ring',
    nodes: { n1: node('n2'), n2: node('n3'), n3: node('n1') },
    state: jsonLines('stdout'),
    overlap: 0,
  })
  return resolveSystem(definition, { directory: join(import.meta.dirname, '../../bench/service') })
}

/** Runs from a fresh start until every node is connected and has sent a message: then three deliveries are enabled. */
export const start = async (cluster: Cluster): Promise<{ steps: number }> => {
  let steps = 0
  const execute = async (choice: Choice | undefined) => {
    if (choice === undefined) throw new Error(`expected three nodes at rest, found ${labelsOf(cluster)}`)
    const { findings } = await cluster.execute(choice)
    if (findings.length > 0) throw new Error(findings[0]!.message)
    steps += 1
  }
  const fireTimers = async () => {
    for (const node of ['n1', 'n2', 'n3'])
      await execute(cluster.enabled().find(choice => choice.kind === 'timer' && choice.node === node))
  }
  await cluster.reset()
  await fireTimers()
  for (let next = delivery(cluster); next !== undefined; next = delivery(cluster)) await execute(next)
  await fireTimers()
  if (cluster.enabled().length !== 3) throw new Error(`expected three deliveries, found ${labelsOf(cluster)}`)
  return { steps }
}

const delivery = (cluster: Cluster) => cluster.enabled().find(({ kind }) => kind === 'deliver')

const labelsOf = (cluster: Cluster) =>
  cluster
    .enabled()
    .map(({ label }) => label)
    .join(', ')

/** Executes deliveries, taking the enabled ones in turns. */
export const walk = async (cluster: Cluster, steps: number): Promise<void> => {
  for (let step = 0; step < steps; step++) {
    const enabled = cluster.enabled()
    const { findings } = await cluster.execute(enabled[step % enabled.length]!)
    if (findings.length > 0) throw new Error(findings[0]!.message)
  }
}
