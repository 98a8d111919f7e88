import { Cluster } from '../../harness/cluster.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import { TimedRun } from '../../harness/emulation/timed-run.ts'
import { unlessInterrupted } from '../../harness/hold/turns/interruption.ts'
import type { EmulationOptions } from '../../harness/native/emulation.ts'
import { timedSystem } from '../../harness/timed/timed-system.ts'
import type { Timing } from '../../harness/timed/timing.ts'
import { allowedCpus } from '../../linux/affinity.ts'
import { newPlace } from '../command/store.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { amongGuests } from '../session/among-guests.ts'
import { clocksStartFor, clocksStartNow } from '../session/clocks-start.ts'
import { openEngine } from '../session/engine.ts'
import { headerOf } from '../traces/record.ts'
import { unsearched } from '../traces/recorded.ts'
import { StepReader } from '../traces/step-reader.ts'
import { type Conclusion, confirmed } from './confirmed.ts'
import { openControl } from './control.ts'
import { watchCpus } from './cpu-pressure.ts'
import { Foresight, planForesight } from './foresight.ts'
import { runPage } from './plots/run-page.ts'
import { showRunProgress } from './progress.ts'
import { PublishedPorts, unpublished } from './publish.ts'
import { RunRecord } from './run-record.ts'
import type { RunOptions } from './settings.ts'
import { immediateCheckOf, saySteered } from './steering.ts'
import { distributionOf, type Emulated, endedBy, interruptedOf, type RunSummary, summaryOf } from './summary.ts'
import { timingOf } from './timing.ts'

/** Runs a system whose nodes are held. Time decides what happens next. */
export const emulateInTime = (
  config: LoadedConfig,
  given: ResolvedSystem,
  settings: EmulationOptions & { readonly pace: 'virtual' | 'real' },
  options: RunOptions,
): Promise<Emulated> => {
  const system = timedSystem(given)
  const { pace, forMs, lookEveryMs, joined } = settings
  const { timing, notes: leftOut } = timingOf(system, settings)
  const plan = planForesight(config, pace, options)
  const immediate = immediateCheckOf(given, options)
  // Must be read before this thread is pinned to one CPU.
  const cpus = allowedCpus()
  return amongGuests(async signal => {
    const { seed, out } = options
    const clocksStart = pace === 'real' ? clocksStartNow(system) : clocksStartFor(system)
    const progress = showRunProgress(forMs)
    const engine = await unlessInterrupted(openEngine(system))
    const rewind = immediate !== undefined || (plan.predicts && pace === 'virtual')
    const open = (how: Timing) => new Cluster(system, { seed, clocksStart, engine, rewind, timing: how })
    let cluster: Cluster | undefined
    let ports: PublishedPorts | undefined
    let run: TimedRun | undefined
    let foresight: Foresight | undefined
    let control: Awaited<ReturnType<typeof openControl>> | undefined
    try {
      // Opened before anything else is made, because a port may be taken.
      if (pace === 'real') ports = await PublishedPorts.open(system.publish, action => run!.act(action))
      cluster = open(timing)
      const place = newPlace(out, system.name)
      const recorded = { ...options, forMs, timing }
      const header = headerOf(config, system, { seed, clocksStart, options: recorded, addresses: cluster.addresses })
      const record = new RunRecord(place, system, header, options.keepMs)
      const begun = performance.now()
      foresight = new Foresight(
        cluster,
        plan,
        {
          ...{ config: config.path, system: given, timing, out, seed, clocksStart },
          ...{ trace: record.trace, inputs: () => record.inputs },
        },
        { cpus, signal, elapsedMs: () => run!.elapsedMs },
      )
      run = new TimedRun(cluster, system, {
        ...{ pace, forMs, lookEveryMs, joined },
        ...timedRunOptions(foresight, record),
        reader: new StepReader(cluster, system.properties),
        progress,
        outside: ports,
        immediate,
      })
      control = await openControl(run, {
        ...{ system: system.name, place, port: options.port ?? 0 },
        page: options.serve ? runPage(system, settings) : undefined,
      })
      ports?.say()
      const busy = pace === 'real' ? watchCpus() : () => []
      await run.run(AbortSignal.any([signal, record.full]))
      progress.ending()
      const busyNotes = busy()
      await foresight.end()
      ports?.close()
      const measured = measuredOf(run, { seed, clocksStart, pace, forMs, begun, signal })
      const { virtualSeconds } = measured
      const notes = [
        ...endedBy(record.problem, virtualSeconds),
        ...busyNotes,
        ...leftOut,
        ...(ports ? [] : unpublished(system, pace)),
        ...run.notReady,
        ...run.preventedAgain,
        ...cluster.notes(),
        ...measured.notes,
        ...foresight.notes,
      ]
      const { problem, ...files } = record.files.end(run, {
        seconds: virtualSeconds,
        seed: options.seed,
        withSeries: options.series,
      })
      cluster.close()
      progress.end()
      const { labels, violation, timesMs } = run
      const again = () => (cluster = open({ ...timing, timesMs, inputs: record.inputs }))
      const concluded = violation ? await confirmed(violation, labels, again(), system) : measured
      record.end({
        ...{ ...unsearched, ...conclusionOf(concluded) },
        ...{ seed, hash: measured.hash, notes, repeated: violation !== undefined },
        ...(foresight.told.length > 0 && { predicted: foresight.told }),
      })
      await foresight.record()
      return {
        summary: {
          ...measured,
          // A violation found by a search is not part of the run itself.
          ...conclusionOf((violation ? undefined : foresight.found) ?? concluded),
          ...foresight.figures,
          notes,
          seconds: secondsSince(begun),
          trace: record.trace,
          ...files,
        },
        unwritten: [record.problem ?? [], problem ?? []].flat(),
      }
    } finally {
      progress.end()
      await foresight?.end()
      ports?.close()
      control?.close()
      cluster?.close()
      await engine?.close()
    }
  })
}

/** Work of a run beside its nodes: prediction and recording. */
const timedRunOptions = (foresight: Foresight, record: RunRecord) => ({
  besides: foresight.besides,
  following: foresight.follower,
  predicted: foresight.filters && { filters: foresight.filters, onSteered: saySteered },
  onStep: (step: Parameters<RunRecord['step']>[0]) => {
    record.step(step)
    foresight.see(step)
  },
})

const measuredOf = (
  run: TimedRun,
  about: Pick<RunSummary, 'seed' | 'clocksStart' | 'pace'> & {
    readonly forMs: number
    readonly begun: number
    readonly signal: AbortSignal
  },
) => {
  const { seed, clocksStart, pace, forMs, begun, signal } = about
  return {
    ...summaryOf(run, {
      ...{ seed, clocksStart, pace, lookedAt: 'still' },
      ...{ seconds: secondsSince(begun), virtualSeconds: run.elapsedMs / 1000 },
      interruptedOf: interruptedOf(signal, forMs),
    }),
    hash: run.digest(),
    steps: run.steps,
    late: pace === 'real' ? distributionOf(run.lateMs) : undefined,
  }
}

const secondsSince = (begun: number) => (performance.now() - begun) / 1000

const conclusionOf = ({ verdict, property, kind, message }: Conclusion): Conclusion => ({
  verdict,
  property,
  kind,
  message,
})
