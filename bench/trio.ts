import { join } from 'node:path'
import { type ExecutionObserver, Executor } from '../checker/cells/executor.ts'
import { replay } from '../checker/cells/replay.ts'
import { walk } from '../checker/cells/walk.ts'
import { defaultWeights, weighted } from '../checker/choosers/weights.ts'
import { Random } from '../checker/system/random.ts'
import { traceHash } from '../checker/trace/hash.ts'
import type { RecordedStep } from '../checker/trace/trace.ts'
import { loadConfig } from '../cli/config/load-config.ts'
import { StepReader } from '../cli/traces/step-reader.ts'
import type { Cluster } from '../harness/cluster.ts'
import {
  defineSystem,
  type GlobalState,
  jsonLines,
  type ResolvedSystem,
  resolveSystem,
} from '../harness/config/config.ts'
import { withCluster } from './with-cluster.ts'

export type Kind = 'node' | 'python' | 'redis'

export const kinds: readonly Kind[] = ['node', 'python', 'redis']

const faults = { drop: 2, duplicate: 2, reset: 1, crash: 1, partition: 1 }

/**
 * Three processes of one kind that talk to each other. They use everything that may differ from one execution to the
 * next: random delays and peers, threads, files, clocks, clients, and every kind of fault.
 *
 * @param root of the package
 */
export const systemOf = async (kind: Kind, root: string): Promise<ResolvedSystem> => {
  if (kind === 'redis') {
    const { definition, directory } = await loadConfig(join(root, 'examples/redis/lastnail.config.ts'))
    return resolveSystem({ ...definition, properties: {}, faults, overlap: 2 }, { directory })
  }
  const program = { node: ['node', 'gossip.cjs'], python: ['python3', 'gossip.py'] }[kind]
  const node = (name: string, ...peers: readonly string[]) => ({
    command: [...program, name, ...peers.map(peer => `{{${peer}.address}}`)],
    listens: 4000,
  })
  const nodes = { n1: node('n1', 'n2', 'n3'), n2: node('n2', 'n1', 'n3'), n3: node('n3', 'n1', 'n2') }
  const definition = defineSystem({ name: `trio-${kind}`, nodes, state: jsonLines('stdout'), faults, overlap: 2 })
  return resolveSystem(definition, { directory: join(root, 'bench/service') })
}

/** Executes a random schedule of this many steps from a fresh start, and returns the record of each step. */
export const executeAny = (system: ResolvedSystem, length: number, seed: number): Promise<RecordedStep[]> =>
  withCluster(system, async cluster => {
    const { steps, end } = await executeOn(cluster, length, seed)
    if (end !== 'length') throw new Error(`the walk ended after ${steps.length - 1} of ${length} steps`)
    return steps
  })

/** The same on a cluster that may have been used before. */
export const executeOn = async (cluster: Cluster, length: number, seed: number) => {
  const { steps, observer } = recorder(cluster)
  const executor = new Executor(cluster, {}, { observer })
  await executor.reset()
  const end = await walk(executor, weighted(new Random(seed), defaultWeights), length, () => false)
  return { steps, end }
}

/** Executes the same schedule again from a fresh start, as far as its steps are enabled. */
export const executeAgain = (system: ResolvedSystem, first: readonly RecordedStep[]): Promise<RecordedStep[]> =>
  withCluster(system, async cluster => {
    const { steps, observer } = recorder(cluster)
    const schedule = first.flatMap(({ choice }) => (choice ? [choice.label] : []))
    await replay(cluster, {}, schedule, { observer })
    return steps
  })

const recorder = (cluster: Cluster): { steps: RecordedStep[]; observer: ExecutionObserver<GlobalState> } => {
  const steps: RecordedStep[] = []
  return { steps, observer: new StepReader(cluster, {}).observer(step => steps.push(step)) }
}

/** One line: the first step that differs between two executions, and the difference; `undefined` for equal traces. */
export const differenceOf = (first: readonly RecordedStep[], again: readonly RecordedStep[]): string | undefined => {
  if (traceHash({ steps: first }) === traceHash({ steps: again })) return undefined
  const at = first.findIndex(
    (step, i) => !again[i] || traceHash({ steps: [step] }) !== traceHash({ steps: [again[i]] }),
  )
  const [expected, found] = [first[at], again[at]]
  const where = `step ${at} (${expected?.choice?.label ?? 'the start'})`
  if (!expected || !found) return `${where} was not offered again`
  const fields = ['choice', 'messages', 'timers', 'states', 'outputs', 'findings', 'fingerprint'] as const
  const differing = fields.filter(field => JSON.stringify(expected[field]) !== JSON.stringify(found[field]))
  const shown = differing.map(field => `${field}: ${show(expected[field])}, then ${show(found[field])}`)
  return `${where} differs in ${shown.join('; ')}`
}

const show = (value: unknown) =>
  JSON.stringify(value, (_, part) => (part?.type === 'Buffer' ? Buffer.from(part.data).toString('latin1') : part))
