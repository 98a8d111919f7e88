/**
 * How long the work after a liveness violation takes: the search for its critical transition, shrinking, and both again on
 * the shrunk schedule. Measured with and without checkpoints. Usage: critical.js [BUG], chord-self-successor by default.
 */
import { check } from '../checker/check.ts'
import type { System } from '../checker/system/system.ts'
import { hasCriu } from '../harness/checkpoint/criu.ts'
import type { GlobalState } from '../harness/config/config.ts'
import { loadSystem } from './corpus/load-system.ts'
import { bugs } from './corpus/rows.ts'
import { row, whole } from './table.ts'
import { withCluster } from './with-cluster.ts'

const [, , id = 'chord-self-successor'] = process.argv
const bug = bugs.find(each => each.id === id && each.kind === 'liveness')
if (bug === undefined) throw new Error(`no liveness bug ${id}`)
if (!hasCriu()) throw new Error('there are no checkpoints without CRIU: lastnail doctor --fix')
process.env.BUG = bug.id
const system = await loadSystem(bug.system)

const withoutCheckpoints = (whole: System<GlobalState>): System<GlobalState> => ({
  reset: variant => whole.reset(variant),
  enabled: () => whole.enabled(),
  execute: choice => whole.execute(choice),
  state: () => whole.state(),
  fingerprint: () => whole.fingerprint(),
})

const examine = async (name: string, of: (cluster: System<GlobalState>) => System<GlobalState>): Promise<number> => {
  const verdict = await withCluster(system, cluster =>
    check(of(cluster), system.properties, { property: bug.property!, milliseconds: 600_000 }),
  )
  const { discovery, seconds, executions, criticalTransition } = verdict
  if (!discovery) throw new Error(`expected ${bug.id} to be found, found ${verdict.message}`)
  const taken = seconds - discovery.seconds
  row(`${bug.id}, found in ${discovery.steps} steps, examined ${name}`, taken.toFixed(1), 's')
  row(
    `  ${criticalTransition?.case} after ${verdict.schedule.length} steps; executions`,
    whole(executions - discovery.execution),
    '',
  )
  return taken
}

const plain = await examine('without checkpoints', withoutCheckpoints)
const saved = await examine('with checkpoints', cluster => cluster)
row('  times faster', (plain / saved).toFixed(1), '')
process.exit()
