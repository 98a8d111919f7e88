/**
 * `node dist/bench/steering/unsteered.js CONFIG TRACE [N]`: of the steps of steering in a run, how many were for something that would not have come:
 * a copy of the run, without this step and the later ones, violates no `always` property within a minute. With N, so many steps are looked at, evenly apart.
 */
import { Executor } from '../../checker/cells/executor.ts'
import { due } from '../../checker/choosers/due.ts'
import { readWay } from '../../checker/trace/read.ts'
import { loadConfig } from '../../cli/config/load-config.ts'
import { inSession } from '../../cli/session/session.ts'
import { sessionOf } from '../../cli/traces/recorded.ts'

const aheadMs = 60_000

const [file, path, count = 'all'] = process.argv.slice(2) as [string, string, string?]
const config = await loadConfig(file)
const way = readWay(path)
const { timing, ...held } = sessionOf(way, 'moving')
const { inputs } = timing!

/** Whether a copy of the run violates something in time, with what was done before this time alone. */
const wouldCome = (index: number): Promise<boolean> =>
  inSession(
    config,
    { ...held, timing: { ...timing!, inputs: inputs.slice(0, index) } },
    async ({ cluster, system }) => {
      const executor = new Executor(cluster, system.properties)
      await executor.reset()
      for (;;) {
        if (executor.violation?.kind === 'safety') return true
        const next = due(executor.enabled())
        if (executor.broken || next === undefined || next.due! > inputs[index]!.atMs + aheadMs) return false
        await executor.execute(next)
      }
    },
  )

const steered = [...inputs.keys()].filter(index => inputs[index]!.does === 'steer')
const looked = count === 'all' ? steered.length : Math.min(steered.length, Number(count))
let inVain = 0
for (let each = 0; each < looked; each++)
  if (!(await wouldCome(steered[Math.floor((each * steered.length) / looked)]!))) inVain += 1
console.log(JSON.stringify({ steered: steered.length, looked, inVain }))
