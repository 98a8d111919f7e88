/**
 * Executions of 50 steps a minute, of real services, by one cell and by two. Each cell has its own process and its own CPU.
 * Usage: cells.js [EXECUTIONS], 200 a round by default.
 */

import { Cells } from '../checker/cells/cells.ts'
import type { Task } from '../checker/cells/task.ts'
import { initial } from '../checker/system/start.ts'
import { clocksStartUnsaid } from '../checker/trace/again.ts'
import { Worker } from '../cli/workers/workers.ts'
import { allowedCpus } from '../linux/affinity.ts'
import { configOf } from './corpus/package-root.ts'
import { median, row, whole } from './table.ts'

const executions = Number(process.argv[2] ?? 200)
const steps = 50
const rounds = 3
const warming = 100
const systems = ['transport', 'corpus/paxos', 'corpus/randtree'] as const

const allowed = allowedCpus()

/** A walk with surprises, as a check does them. */
const taskOf = (seed: number): Task => ({ start: initial, walks: [{ chooser: 'race', seed, length: steps }] })

const secondsOf = async (file: string, cpus: readonly number[]): Promise<number> => {
  const workers = cpus.map(
    cpu => new Worker({ file, seed: 1, clocksStart: clocksStartUnsaid, property: undefined, cpu }, allowed),
  )
  const cells = Cells.of(workers)
  const run = (count: number) => Promise.all(Array.from({ length: count }, (_, seed) => cells.run(taskOf(seed))))
  try {
    // New processes and their marks are made once; and V8 compiles the tool's own code in threads beside, for which there
    // is a CPU while one cell runs, and none while two do.
    await run(warming * cpus.length)
    const begun = performance.now()
    await run(executions)
    return (performance.now() - begun) / 1000
  } finally {
    await Promise.all(workers.map(worker => worker.end()))
  }
}

const [first, second] = allowed
if (second === undefined) throw new Error('two CPUs are needed')
for (const name of systems) {
  const taken: { one: number; two: number }[] = []
  for (let round = 0; round < rounds; round++)
    taken.push({
      one: await secondsOf(configOf(name), [second]),
      two: await secondsOf(configOf(name), [first!, second]),
    })
  const one = median(taken.map(({ one }) => one))
  row(`${name}: executions of ${steps} steps, one cell`, whole((60 * executions) / one), 'a minute')
  row('  two cells', whole((60 * executions) / median(taken.map(({ two }) => two))), 'a minute')
  row('  two to one', median(taken.map(({ one, two }) => one / two)).toFixed(2), '')
}
