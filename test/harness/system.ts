import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { Cluster, type ClusterOptions } from '../../harness/cluster.ts'
import { defineSystem, resolveSystem, type SystemDefinition } from '../../harness/config/config.ts'

/** A directory with these files, for as long as the test runs. */
export const directoryWith = (files: Readonly<Record<string, string>>): string => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  return directory
}

/** A cluster of real processes, ended with the test. */
export const clusterOf = (
  definition: Omit<SystemDefinition, 'name'>,
  files: Readonly<Record<string, string>> = {},
  options: Pick<ClusterOptions, 'seed' | 'rewind' | 'timing'> = {},
): Cluster => {
  const directory = directoryWith(files)
  const cluster = new Cluster(resolveSystem(defineSystem({ name: 'test', ...definition }), { directory }), options)
  onTestFinished(() => cluster.close())
  return cluster
}

/** Executes the enabled choice with this label. */
export const take = async (cluster: Cluster, label: string) => {
  const choice = cluster.enabled().find(each => each.label === label)
  if (choice === undefined) throw new Error(`${label} is not among ${labelsOf(cluster).join(', ') || 'nothing'}`)
  return cluster.execute(choice)
}

export const labelsOf = (cluster: Cluster): string[] => cluster.enabled().map(choice => choice.label)

/** What `store` prints in two calls of the client `ann`, from the initial state, once something was done there. */
export const printedAfter = async (cluster: Cluster, first: () => Promise<unknown>): Promise<string[]> => {
  await cluster.reset()
  await first()
  expect(labelsOf(cluster)).toEqual(['client ann'])
  for (const _ of [1, 2]) await take(cluster, 'client ann')
  return stdoutOf(cluster, 'store')
}

export const stdoutOf = (cluster: Cluster, node: string): string[] =>
  cluster.state().node(node).output.stdout.trimEnd().split('\n')
