/**
 * `node dist/bench/rewinds.js CONFIG [--steps 50] [--rounds 20]`: executes random schedules on rewound processes, and
 * each again on new processes. Prints how many traces are the same, and how long a rewind and a start take.
 */
import { parseArgs } from 'node:util'
import { loadConfig } from '../cli/config/load-config.ts'
import { resolveSystem } from '../harness/config/config.ts'
import { median } from './table.ts'
import { differenceOf, executeAgain, executeOn } from './trio.ts'
import { withCluster } from './with-cluster.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { steps: { type: 'string', default: '50' }, rounds: { type: 'string', default: '20' } },
})
const config = await loadConfig(positionals[0]!)
const system = resolveSystem(config.definition, { directory: config.directory })
const length = Number(values.steps)
const rounds = Number(values.rounds)
const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

const resets: number[] = []
const starts: number[] = []
const durations: number[] = []
let same = 0
await withCluster(system, async cluster => {
  for (let round = 1; round <= rounds; round++) {
    const { steps } = await executeOn(cluster, length, round)
    durations.push(...steps.filter(({ choice }) => choice).map(({ durationUs }) => durationUs / 1000))
    const difference = differenceOf(steps, await executeAgain(system, steps))
    if (difference === undefined) same += 1
    else console.log(`round ${round}: ${difference.slice(0, 1000)}`)
    starts.push(await withCluster(system, other => timeOf(() => other.reset())))
    resets.push(await timeOf(() => cluster.reset()))
  }
  console.log(`${same} of ${rounds} traces the same; ${cluster.starts} programs started`)
})
const milliseconds = (figures: readonly number[]) => `${median(figures).toFixed(1)} ms`
console.log(
  `plain start ${milliseconds(starts)}, rewound in ${milliseconds(resets)}, a step ${milliseconds(durations)} (medians)`,
)
