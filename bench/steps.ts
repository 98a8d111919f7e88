/** How many steps a cell executes in a second, once the nodes run; and how many executions from a fresh start. */
import { ringOf, start, type Transport, walk } from './ring.ts'
import { median, row, whole } from './table.ts'

const rounds = 5
const stepsOfRound = 1000
const stepsOfExecution = 50
const executions = 9

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

const measureSteps = async (transport: Transport) => {
  const cluster = ringOf(transport)
  try {
    await start(cluster)
    await walk(cluster, stepsOfRound)
    const taken: number[] = []
    for (let round = 0; round < rounds; round++) taken.push(await seconds(() => walk(cluster, stepsOfRound)))
    row(`steps, three node processes, ${transport}`, whole(stepsOfRound / median(taken)), 'a second')
  } finally {
    cluster.close()
  }
}

const measureExecutions = async (transport: Transport) => {
  const cluster = ringOf(transport)
  const execution = async () => {
    const { steps } = await start(cluster)
    await walk(cluster, stepsOfExecution - steps)
  }
  try {
    await execution()
    const taken: number[] = []
    for (let count = 0; count < executions; count++) taken.push(await seconds(execution))
    row(
      `executions of ${stepsOfExecution} steps from a fresh start, ${transport}`,
      whole(60 / median(taken)),
      'a minute',
    )
  } finally {
    cluster.close()
  }
}

await measureSteps('udp')
await measureSteps('tcp')
await measureExecutions('udp')
await measureExecutions('tcp')
