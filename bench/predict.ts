/**
 * Prediction from live states, as CrystalBall does it. First how fast a search by deviations is, from a state of 4 Chord nodes and one of 25
 * RandTree nodes: inputs of processes a second, and steps that are remembered. With `--rows`: CrystalBall's rows from some states of a run of each, in
 * which its chain can begin.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Solo } from '../checker/cells/alone.ts'
import { type Prediction, predict } from '../checker/searches/deviations/predict.ts'
import { Table } from '../checker/searches/local/table.ts'
import { Budget } from '../checker/system/budget.ts'
import type { Checkpoint } from '../checker/system/system.ts'
import type { CheckOutcome } from '../cli/check/outcome.ts'
import { loadConfig } from '../cli/config/load-config.ts'
import { scheduleFrom, sessionFrom } from '../cli/traces/recorded.ts'
import { Cluster } from '../harness/cluster.ts'
import { resolveSystem } from '../harness/config/config.ts'
import { systemInTime } from '../harness/timed/timed-system.ts'
import { cpuOfChildren } from './corpus/cpu.ts'
import { bugs, ofCrystalBall } from './corpus/rows.ts'
import { lastToLookAt, some, stepsWith } from './emulate/preconditions.ts'
import { runCommand } from './emulate/run-command.ts'
import { row, whole } from './table.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'boolean', default: false },
    row: { type: 'string', multiple: true, default: [] },
    search: { type: 'string', default: 'deviations' },
    /** Seconds of each search. */
    for: { type: 'string', default: '60' },
    /** Seconds of each run. */
    after: { type: 'string', default: '30' },
    /** How many states of a run are searched from, at most. */
    states: { type: 'string', default: '3' },
    /** How many resets a search may add to the run. The chains of the paper take two. */
    resets: { type: 'string', default: '2' },
    /** Inputs of processes, for the figures of speed. */
    inputs: { type: 'string', default: '2000' },
  },
})

const directory = mkdtempSync(join(tmpdir(), 'lastnail-predict-'))
const live = join(import.meta.dirname, 'emulate/live.config.js')
const large = join(import.meta.dirname, 'emulate/crystalball.config.js')

/** A run without any check. */
const runOf = (config: string, environment: Record<string, string>): { trace: string; steps: number } => {
  const { result } = runCommand(['emulate', config, '--for', `${options.after}s`, '--out', directory], {
    ...environment,
    PREDICATES: 'none',
  })
  return { trace: String(result.trace), steps: result.steps as number }
}

// Speed

/** Searches from the last state of a run, by so many inputs, and prints how fast that was. */
const measureSpeed = async (what: string, config: string, environment: Record<string, string>): Promise<void> => {
  const { trace, steps } = runOf(config, environment)
  Object.assign(process.env, environment)
  const { definition, directory: place } = await loadConfig(config)
  const held = sessionFrom(`${trace}:${steps}`)
  const labels = scheduleFrom(`${trace}:${steps}`)
  const system = systemInTime(resolveSystem(definition, { directory: place }), held.timing)
  const { seed = 1, ...others } = held
  const cluster = new Cluster(system, { seed, ...others })
  try {
    const { came, seconds, onProcesses, mark } = await searchFrom(cluster, labels)
    row(`${what}: the run executed and marked`, mark.toFixed(1), 's')
    row(`${what}: inputs of processes`, whole(came.inputs / onProcesses), 'a second')
    row(`${what}: remembered steps`, whole((came.transitions - came.inputs) / (seconds - onProcesses)), 'a second')
    row(`${what}: steps in all, in ${seconds.toFixed(0)} s`, whole(came.transitions), '')
    row(`${what}: states of the system`, whole(came.states), '')
    row(`${what}: depth, in steps`, String(came.depth), '')
    row(`${what}: deviations`, String(came.deviations), '')
  } finally {
    cluster.close()
  }
}

interface Measured {
  readonly came: Prediction
  /** Of the search, after the first inputs. */
  readonly seconds: number
  readonly onProcesses: number
  readonly mark: number
}

const searchFrom = async (cluster: Cluster, labels: readonly string[]): Promise<Measured> => {
  const { nodes } = cluster
  const begun = performance.now()
  let mark = 0
  const markAt = async (): Promise<Checkpoint | undefined> => {
    await cluster.reset()
    for (const label of labels) await cluster.execute(cluster.enabled().find(choice => choice.label === label)!)
    const marked = await cluster.mark()
    mark = (performance.now() - begun) / 1000
    return marked
  }
  const solo = new Solo(nodes, markAt)
  let [onProcesses, first] = [0, 0]
  const timed: Pick<Solo, 'perform'> = {
    perform: async (...task) => {
      const from = performance.now()
      try {
        return await solo.perform(...task)
      } finally {
        if (task[0].start.inputs.length > 0) onProcesses += (performance.now() - from) / 1000
        else first = performance.now()
      }
    },
  }
  const came = await predict({
    ...{ nodes, properties: {}, table: new Table(nodes.names), solo: timed, budget: new Budget({}) },
    ...{ begin: { after: labels, variant: 0 }, inputsMax: Number(options.inputs) },
  })
  return { came, seconds: (performance.now() - first) / 1000, onProcesses, mark }
}

// Rows

/** A search from one state of a run. */
const searchAt = (trace: string, step: number, property: string, environment: Record<string, string>): CheckOutcome => {
  const how = ['--search', options.search, '--for', `${options.for}s`, '--workers', '1', '--property', property]
  const { result } = runCommand(['check', live, '--from', `${trace}:${step}`, ...how, '--out', directory], environment)
  if (result.error) throw new Error(JSON.stringify(result.error))
  return result as unknown as CheckOutcome
}

/** @param cpu seconds of CPU that the check used: on a busy machine less than it lasted */
const shown = (step: number, { verdict, deviations, searches, seconds }: CheckOutcome, cpu: number): string => {
  const { executed = 0, transitions = 0, states = 0, depth = 0, deviations: cost = 0 } = deviations ?? {}
  const found = verdict === 'violated' ? `yes, ${searches.reduce((sum, each) => sum + each.executions, 0)}` : '–'
  const figures = [executed, transitions, states, depth, cost].map(each => each.toLocaleString('en'))
  return `| ${[step, found, ...figures, seconds.toFixed(0), cpu.toFixed(0)].join(' | ')} |`
}

const searchRow = (id: string): void => {
  const { system, property } = bugs.find(bug => bug.id === id)!
  // A state in the middle of a call cannot be gone back to in place.
  const environment = {
    ...{ SYSTEM: system.replace('corpus/', ''), BUG: id, CHURN: '2', CLIENTS: 'none', RESETS: options.resets },
  }
  const { trace, steps } = runOf(live, environment)
  const last = lastToLookAt(trace, steps, environment)
  for (const step of some(stepsWith(trace, id, last), Number(options.states))) {
    const before = cpuOfChildren()
    const outcome = searchAt(trace, step, property!, environment)
    console.log(`| ${id} ${shown(step, outcome, cpuOfChildren() - before)}`)
    if (outcome.verdict === 'violated') return
  }
}

try {
  if (options.rows || options.row.length > 0) {
    console.log('| bug | after step | found | inputs | steps | states | depth | deviations | s | s of CPU |')
    console.log(`| --- | ---: | --- |${' ---: |'.repeat(7)}`)
    for (const id of options.row.length > 0 ? options.row : ofCrystalBall) searchRow(id)
  } else {
    await measureSpeed('4 Chord nodes', live, { SYSTEM: 'chord', BUG: 'chord-pred-self', CHURN: '2', CLIENTS: 'none' })
    await measureSpeed('25 RandTree nodes', large, { BUG: 'randtree-children-siblings' })
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
