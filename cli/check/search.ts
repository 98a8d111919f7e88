import { type Cell, OwnCell } from '../../checker/cells/cell.ts'
import { checkInCells } from '../../checker/check.ts'
import type { SearchOptions } from '../../checker/searches/options.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import { addNotes, type CountedNotes, sayNotes } from '../../harness/config/notes.ts'
import { waitingForOthers } from '../../harness/hold/turns/interruption.ts'
import { allow, allowedCpus } from '../../linux/affinity.ts'
import { type CheckOptions, timeOf } from '../command/options.ts'
import { allowsFindings, propertiesFor, type Sought } from '../config/goal.ts'
import type { Session } from '../session/session.ts'
import { type Held, scheduleFrom, sessionFrom } from '../traces/recorded.ts'
import { describeStarved, StarvationWatch } from '../workers/starved.ts'
import { Worker } from '../workers/workers.ts'

/** Explores a session's system and examines findings, in its own cluster or in workers on these CPUs. */
export const search = async (
  session: Session,
  options: CheckOptions & Sought,
  cpus: readonly number[],
): Promise<Verdict> => {
  const { cluster, system } = session
  const { workers = 1 } = options
  const properties = propertiesFor(system, options)
  const wanted = searchOf(session, options)
  const searchIn = async (
    cells: readonly Cell[],
    starvation: () => readonly StarvationWatch[],
    notes: () => CountedNotes,
  ): Promise<Verdict> => {
    try {
      const verdict = await checkInCells(cells, properties, wanted, cluster.nodesToSearch)
      return { ...verdict, notes: [...verdict.notes, ...describeStarved(starvation()), ...sayNotes(notes())] }
    } finally {
      await Promise.all(cells.map(cell => cell.end()))
    }
  }
  if (workers === 1) {
    const cell = new OwnCell(cluster, properties, {
      weights: system.weights,
      nodes: cluster.nodesToSearch,
      allowFindings: allowsFindings(options),
    })
    const watch = new StarvationWatch(process.pid, cpus[0]!, [], () => undefined)
    const starvation = () => {
      // Nobody looked at the clock while this thread was kept from its CPU.
      watch.look()
      return [watch]
    }
    return searchIn([cell], starvation, () => cluster.countedNotes()).finally(() => watch.end())
  }
  return waitingForWorkers(cpus, () => {
    const all = startWorkers(session, options, cpus)
    const starvation = () => all.flatMap(worker => worker.starvation)
    return searchIn(all, starvation, () => addNotes(all.map(({ notes }) => notes))).finally(() => {
      // A finding is executed once more here.
      if (all.some(({ hasLongTurns }) => hasLongTurns)) cluster.lengthenTurns()
    })
  })
}

/**
 * A process that waits for workers must not be pinned to one CPU: another program may use that up, and this must be
 * noticed.
 */
export const waitingForWorkers = <Result>(cpus: readonly number[], work: () => Promise<Result>): Promise<Result> =>
  waitingForOthers(async () => {
    const held = allowedCpus()
    allow(0, cpus)
    try {
      return await work()
    } finally {
      allow(0, held)
    }
  })

const startWorkers = (
  { config, clocksStart }: Session,
  options: CheckOptions & Sought,
  cpus: readonly number[],
): Worker[] => {
  const { workers = 1, property, goal, rewind } = options
  const order = {
    file: config.path,
    translated: config.translated,
    property,
    goal,
    rewind,
    isAble: true,
    ...sessionOfCheck(options),
    clocksStart,
  }
  return Array.from({ length: workers }, (_, i) => new Worker({ ...order, cpu: cpus[i % cpus.length]! }, cpus))
}

const searchOf = ({ seed, signal }: Session, options: CheckOptions): SearchOptions => {
  const { from, ...others } = options
  return {
    ...others,
    seed: options.seed ?? seed,
    signal,
    milliseconds: timeOf(options),
    from: typeof from === 'string' ? scheduleFrom(from) : from,
  }
}

/** How nodes are held: as when the steps to begin with were recorded, or else with the seed of the search. */
export const sessionOfCheck = ({ seed, from }: Pick<CheckOptions, 'seed' | 'from'>): Held =>
  typeof from === 'string' ? sessionFrom(from) : { seed }
