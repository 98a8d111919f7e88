/**
 * `node dist/bench/rewinds.js CONFIG [--steps 50] [--rounds 20]`: executes random schedules on processes that are brought
 * back to where they began, and each again on processes started anew; says how many traces are the same, and what
 * either beginning takes.
 */
import { parseArgs } from 'node:util'
import { Executor } from '../checker/executor.ts'
import { Random } from '../checker/random.ts'
import type { RecordedStep } from '../checker/trace/trace.ts'
import { walk } from '../checker/walk.ts'
import { defaultWeights, weighted } from '../checker/weights.ts'
import { loadConfig } from '../cli/load-config.ts'
import { StepReader } from '../cli/step-reader.ts'
import { Cluster } from '../harness/cluster.ts'
import { resolveSystem } from '../harness/config.ts'
import { differenceOf, executeAgain } from './trio.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { steps: { type: 'string', default: '50' }, rounds: { type: 'string', default: '20' } },
})
const config = await loadConfig(positionals[0]!)
const system = resolveSystem(config.definition, { directory: config.directory })
const cluster = new Cluster(system, { seed: 1 })
const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!.toFixed(1)
const resets: number[] = []
let same = 0
try {
  for (let round = 0; round <= Number(values.rounds); round++) {
    const steps: RecordedStep[] = []
    const reader = new StepReader(cluster, {})
    let begun = performance.now()
    const executor = new Executor(
      cluster,
      {},
      {
        observer: {
          onReset: (findings, state) => {
            const took = performance.now() - begun
            if (round > 0) resets.push(took)
            steps.push(reader.read(undefined, findings, state()))
          },
          onStep: ({ choice, findings }, state) => steps.push(reader.read(choice, findings, state())),
        },
      },
    )
    begun = performance.now()
    await executor.reset()
    const took = performance.now() - begun
    await walk(executor, weighted(new Random(round), defaultWeights), Number(values.steps), () => false)
    if (round === 0) console.log(`first start ${took.toFixed(1)} ms`)
    const difference = differenceOf(steps, await executeAgain(system, steps))
    if (difference === undefined) same += 1
    else console.log(`round ${round}: ${difference.slice(0, 1000)}`)
  }
} finally {
  cluster.close()
}
console.log(
  `${same} of ${Number(values.rounds) + 1} traces the same; resets: median ${median(resets)} ms, all ${resets.map(ms => ms.toFixed(0)).join(' ')}`,
)
