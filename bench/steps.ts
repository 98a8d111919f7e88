/** How many steps a cell executes in a second, once the nodes run; and how many executions from a fresh start. */
import { join } from 'node:path'
import { Executor } from '../checker/cells/executor.ts'
import { walk as walkBy } from '../checker/cells/walk.ts'
import { defaultWeights, weighted } from '../checker/choosers/weights.ts'
import { Random } from '../checker/system/random.ts'
import { Cluster } from '../harness/cluster.ts'
import { type Kind, ringOf, start, walk } from './ring.ts'
import { median, row, whole } from './table.ts'
import { systemOf } from './trio.ts'

const rounds = 9
const stepsOfRound = 1000
const stepsOfExecution = 50
const executions = 100
/** Until then, V8 compiles the tool and, in two of the systems, the nodes: the first steps take up to four times as long. */
const stepsBefore = 6000
const executionsBefore = 50

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

/** Steps a second, and the tool's own CPU time for each, which other work of the machine hardly changes. */
const measure = async (what: string, walkOn: (steps: number) => Promise<unknown>) => {
  await walkOn(stepsBefore)
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) taken.push(await seconds(() => walkOn(stepsOfRound)))
  row(`steps, ${what}`, whole(stepsOfRound / median(taken)), 'a second')
  const used: number[] = []
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage()
    await walkOn(stepsOfRound)
    const { user, system } = process.cpuUsage(before)
    used.push((user + system) / stepsOfRound)
  }
  row(`CPU time of the tool, ${what}`, whole(median(used)), 'µs a step')
}

const measureSteps = async (kind: Kind) => {
  const cluster = ringOf(kind)
  try {
    await start(cluster)
    await measure(`three processes of ${kind}`, steps => walk(cluster, steps))
  } finally {
    cluster.close()
  }
}

/** Replication of the writes of sessions. Nothing observes the servers. */
const measureRedis = async () => {
  const system = await systemOf('redis', join(import.meta.dirname, '../..'))
  const cluster = new Cluster({ ...system, observe: undefined })
  try {
    const executor = new Executor(cluster, {})
    const policy = weighted(new Random(1), { ...defaultWeights, fault: 0, overlap: 0 })
    await executor.reset()
    await measure('three redis servers', steps => walkBy(executor, policy, steps, () => false))
  } finally {
    cluster.close()
  }
}

const measureExecutions = async (kind: Kind) => {
  const cluster = ringOf(kind)
  const execution = async () => {
    const { steps } = await start(cluster)
    await walk(cluster, stepsOfExecution - steps)
  }
  try {
    for (let count = 0; count < executionsBefore; count++) await execution()
    const taken: number[] = []
    for (let count = 0; count < executions; count++) taken.push(await seconds(execution))
    row(`executions of ${stepsOfExecution} steps from a fresh start, ${kind}`, whole(60 / median(taken)), 'a minute')
  } finally {
    cluster.close()
  }
}

await measureSteps('node, udp')
await measureSteps('node, tcp')
await measureSteps('python, udp')
await measureRedis()
await measureExecutions('node, udp')
await measureExecutions('node, tcp')
