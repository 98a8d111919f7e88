import { expect, onTestFinished, test } from 'vitest'
import { Solo } from '../../checker/cells/alone.ts'
import { predict } from '../../checker/searches/deviations/predict.ts'
import { Table } from '../../checker/searches/local/table.ts'
import { Budget } from '../../checker/system/budget.ts'
import { loadConfig } from '../../cli/config/load-config.ts'
import { Cluster } from '../../harness/cluster.ts'
import { resolveSystem } from '../../harness/config/config.ts'
import { systemInTime } from '../../harness/timed/timed-system.ts'
import { meshTiming } from './timed/mesh.ts'

const liveRun = async (system: string) => {
  const { definition, directory } = await loadConfig(`examples/corpus/${system}/lastnail.config.ts`)
  const resolved = resolveSystem(definition, { directory })
  const timing = meshTiming(
    resolved.nodes.map(({ name }) => name),
    way => ({ delayMs: 20 + 7 * way }),
  )
  const cluster = new Cluster(systemInTime(resolved, timing), { seed: 1, timing })
  onTestFinished(() => cluster.close())
  await cluster.reset()
  return { cluster, resolved }
}

/** Executes what is due next, again and again, up to a time. Gives what was executed and when. */
const runTo = async (cluster: Cluster, msMax: number): Promise<string[]> => {
  const steps: string[] = []
  for (;;) {
    const due = cluster.enabled().filter(choice => choice.due !== undefined)
    const next = due.toSorted((one, other) => one.due! - other.due!)[0]
    if (next === undefined || next.due! > msMax) return steps
    await cluster.execute(next)
    steps.push(`${cluster.running.time!.nowMs} ${next.label}`)
  }
}

test('what may come is predicted in place, twice the same, and the live run goes on as without', async () => {
  const plain = await liveRun('randtree')
  await runTo(plain.cluster, 1500)
  const undisturbed = await runTo(plain.cluster, 3000)
  const end = plain.cluster.state().nodes

  const { cluster, resolved } = await liveRun('randtree')
  await runTo(cluster, 1500)
  const nodes = cluster.nodesBeside(resolved)
  const mark = (await cluster.mark())!
  const predictFrom = async (table: Table) => {
    const solo = new Solo(nodes, async () => mark)
    const limits = { inputsMax: 60, budget: new Budget({}) }
    const begin = { after: ['the live state'], variant: 0 }
    const came = await predict({ nodes, properties: resolved.properties, table, solo, begin, ...limits })
    solo.forget()
    return came
  }
  const table = new Table(nodes.names)
  const first = await predictFrom(table)
  const other = await predictFrom(new Table(nodes.names))
  const later = await predictFrom(table)
  expect(first).toMatchObject({ suspicions: [], inputs: 60 })
  expect(other).toEqual(first)
  // What is remembered needs no process, so the same number of inputs leads further.
  expect(later.transitions).toBeGreaterThan(first.transitions)
  await cluster.restore(mark)
  await mark.discard()
  expect(await runTo(cluster, 3000)).toEqual(undisturbed)
  expect(cluster.state().nodes).toEqual(end)
})
