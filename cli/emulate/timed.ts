import { join } from 'node:path'
import type { Mark } from '../../checker/cells/executor.ts'
import { replay } from '../../checker/cells/replay.ts'
import type { Violation } from '../../checker/cells/violation.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { Writing, writeWhole } from '../../checker/system/written.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import { Cluster } from '../../harness/cluster.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import { TimedRun, type TimedRunOptions } from '../../harness/emulation/timed-run.ts'
import { unlessInterrupted } from '../../harness/hold/turns/interruption.ts'
import type { EmulationOptions } from '../../harness/native/emulation.ts'
import { Filters } from '../../harness/steering/filters.ts'
import { type PredictionCounts, Predictor } from '../../harness/steering/predictor.ts'
import { Links } from '../../harness/timed/links.ts'
import { timedSystem } from '../../harness/timed/timed-system.ts'
import { inOrder, type RunSoFar, type TimedHappening, type Timing } from '../../harness/timed/timing.ts'
import { planOf } from '../../harness/timed/wiring.ts'
import { allowedCpus } from '../../linux/affinity.ts'
import { newPlace } from '../command/store.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { amongGuests } from '../session/among-guests.ts'
import { clocksStartFor, clocksStartNow } from '../session/clocks-start.ts'
import { openEngine } from '../session/engine.ts'
import { createTrace, headerOf } from '../traces/record.ts'
import { unsearched } from '../traces/recorded.ts'
import { StepReader } from '../traces/step-reader.ts'
import { openControl } from './control.ts'
import { watchCpus } from './cpu-pressure.ts'
import { Follower } from './follow.ts'
import { OutputFiles } from './output-files.ts'
import { requireLinks } from './planned-links.ts'
import { drawRun } from './plot.ts'
import { isPredicted, Predictions, predictEveryMsDefault, predictionMax } from './predictions.ts'
import { showRunProgress } from './progress.ts'
import { PublishedPorts, unpublished } from './publish.ts'
import { type FoundBesides, SearchBesides, type SearchPlan, stopsTheClock } from './search-besides.ts'
import { MeasuredLines, seriesOf, writeSeries } from './series.ts'
import type { RunOptions } from './settings.ts'
import { guardOf, sayGivenUp, sayInterventions, saySteered } from './steering.ts'
import { distributionOf, type Emulated, endedBy, interruptedOf, type RunSummary, summaryOf } from './summary.ts'

/** Runs a system whose nodes are held. Time decides what happens next. */
export const emulateInTime = (
  config: LoadedConfig,
  given: ResolvedSystem,
  settings: EmulationOptions & { readonly pace: 'virtual' | 'real' },
  options: RunOptions,
): Promise<Emulated> => {
  const system = timedSystem(given)
  const { timing, notes: leftOut } = timingOf(system, settings)
  const plan = planOfSearches(config, settings, options)
  const guard = options.guard && guardOf(options.guard, system.properties)
  const { steer } = options
  const isChecked = steer === 'check' || steer === 'both' || guard !== undefined
  const predicts = isPredicted(options)
  if (predicts && plan) throw new UsageError('expected --predict or --check-every, found both')
  // Must be read before this thread is pinned to one CPU.
  const cpus = allowedCpus()
  return amongGuests(async signal => {
    const { seed } = options
    const clocksStart = settings.pace === 'real' ? clocksStartNow(system) : clocksStartFor(system)
    const { pace, forMs, lookEveryMs, joined } = settings
    const progress = showRunProgress(forMs)
    const engine = await unlessInterrupted(openEngine(system))
    const open = (how: Timing) =>
      new Cluster(system, {
        seed,
        clocksStart,
        engine,
        rewind: isChecked || (predicts && pace === 'virtual'),
        timing: how,
      })
    let cluster: Cluster | undefined
    let ports: PublishedPorts | undefined
    let run: TimedRun | undefined
    let besides: SearchBesides | undefined
    let predictions: Predictions | undefined
    let follower: Follower | undefined
    let control: Awaited<ReturnType<typeof openControl>> | undefined
    try {
      // Opened before anything else is made, because a port may be taken.
      if (pace === 'real') ports = await PublishedPorts.open(system.publish, action => run!.act(action))
      cluster = open(timing)
      const place = newPlace(options.out, system.name)
      const [trace, plot] = [join(place, 'run.trace'), join(place, 'run.svg')]
      const recorded = { ...options, forMs, timing }
      const full = new AbortController()
      const writing = new Writing(() => full.abort())
      const writer = createTrace(
        trace,
        headerOf(config, system, { seed, clocksStart, options: recorded, addresses: cluster.addresses }),
        { keepMs: options.keepMs },
      )
      const begun = performance.now()
      const inputs: RecordedStep[] = []
      const source = { config: config.path, system: given, timing, out: options.out, seed, clocksStart }
      const written = new OutputFiles(
        place,
        system.nodes.map(({ name }) => name),
      )
      const measuredLines = new MeasuredLines(system.emulation.measure)
      const onStep = (step: RecordedStep) => {
        writing.try(() => {
          writer.step(step)
          measuredLines.see(written.append(step.outputs, step.atMs ?? 0))
        })
        if (step.input !== undefined) inputs.push(step)
        follower?.tell({
          label: step.choice?.label,
          atMs: step.atMs ?? 0,
          input: step.input as TimedHappening | undefined,
        })
      }
      besides = plan && new SearchBesides(plan, { ...source, trace, inputs: () => actionsOf(inputs) }, { cpus, signal })
      const filters = steer === 'predict' || steer === 'both' ? new Filters(sayGivenUp) : undefined
      const { everyMs = predictEveryMsDefault } = options
      const max = predictionMax(options)
      let inPlace: (TimedRunOptions['besides'] & { readonly counts: PredictionCounts }) | undefined
      if (predicts) {
        const predicted = () => follower?.counts ?? inPlace!.counts
        const whenRecorded = pace === 'virtual' ? 'at once' : 'at the end'
        const records = options.predict ? whenRecorded : 'never'
        const taking = (predictions = new Predictions(
          predicted,
          { ...source, trace },
          { records, filters, cpus, signal },
        ))
        const isSteered = filters !== undefined
        if (pace === 'virtual')
          inPlace = predictInPlace(new Predictor(cluster, given, { ...max, isSteered, signal }), taking, everyMs)
        else
          follower = new Follower(
            { file: config.path, seed, clocksStart, timing, cpu: otherOf(cpus), everyMs, max, isSteered },
            { cpus, onRound: (from, round) => void taking.take(from, round, run!.elapsedMs) },
          )
      }
      const reader = new StepReader(cluster, system.properties)
      const { reset, crash } = given.faults
      // A guarded service has users: it only refuses what is fatal.
      const mayReboot = guard === undefined && reset + crash > 0
      const immediate = isChecked ? { listener: sayInterventions, guard, mayReboot } : undefined
      const how = {
        pace,
        forMs,
        lookEveryMs,
        joined,
        progress,
        reader,
        outside: ports,
        onStep,
        besides: inPlace ?? besides,
        following: follower,
        immediate,
        predicted: filters && { filters, onSteered: saySteered },
      }
      run = new TimedRun(cluster, system, how)
      const { origin, token } = (control = await openControl(run, system.name, place, options.port ?? 0))
      process.stderr.write(`lastnail: control at ${origin} with token ${token}\n`)
      for (const { port, node, nodePort } of ports ? system.publish : [])
        process.stderr.write(`lastnail: 127.0.0.1:${port} is ${node}:${nodePort}\n`)
      const busy = pace === 'real' ? watchCpus() : () => []
      await run.run(AbortSignal.any([signal, full.signal]))
      const busyNotes = busy()
      await follower?.end()
      const endedNotes = endedBy(writing.problem, run.elapsedMs / 1000)
      ports?.close()
      progress.end()
      const { labels, violation, steps, lateMs } = run
      const hash = run.digest()
      const virtualSeconds = run.elapsedMs / 1000
      const lookedAt = 'still'
      const measured = {
        ...summaryOf(run, {
          ...{ seed, clocksStart, pace, seconds: secondsSince(begun), virtualSeconds, lookedAt },
          interruptedOf: interruptedOf(signal, forMs),
        }),
        hash,
        steps,
        late: pace === 'real' ? distributionOf(lateMs) : undefined,
      }
      const drawing = new Writing()
      const drawn = drawRun(run, system.name, virtualSeconds)
      drawing.try(() => writeWhole('the plot', plot, drawn))
      const series = options.series ? writeSeries(place, { ...seriesOf(run), ...measuredLines.series }, drawing) : null
      const notes = [
        ...endedNotes,
        ...busyNotes,
        ...leftOut,
        ...(ports ? [] : unpublished(system, pace)),
        ...run.notReady,
        ...cluster.notes(),
        ...measured.notes,
        ...(besides?.notes ?? []),
        ...(predictions?.notes ?? []),
        ...(follower?.ended === undefined ? [] : [`the predictor ended before the run: ${follower.ended}`]),
      ]
      cluster.close()
      const again = { ...timing, timesMs: run.timesMs, inputs: actionsOf(inputs) }
      const concluded = violation ? await confirmed(violation, labels, () => (cluster = open(again)), system) : measured
      const came = { ...verdictOf(concluded), seed, hash, notes, repeated: violation !== undefined }
      const told = predictions?.told ?? []
      const foretold = told.length > 0 && { predicted: told }
      writing.try(() => writer.end({ verdict: { ...unsearched, ...came, ...foretold } }))
      writer.close()
      if (!signal.aborted) await predictions?.end()
      // A violation found by a search is not part of the run itself.
      const concluding = verdictOf(
        (violation ? undefined : foundBesides(predictions?.results.found ?? besides?.searched.found)) ?? concluded,
      )
      const searched = besides && { searched: besides.searched }
      const predicted = predictions && {
        predictions: {
          ...predictions.results,
          ...(follower && { behindMs: follower.behindMsMax }),
          ...(follower && filters && { filters: predictions.filters }),
        },
        predicted: (follower ?? inPlace!).counts.predicted,
      }
      const isDrawn = drawing.problem === undefined
      const files = { trace, plot: isDrawn ? plot : null, series }
      return {
        summary: {
          ...measured,
          ...concluding,
          ...searched,
          ...predicted,
          notes,
          seconds: secondsSince(begun),
          ...files,
        },
        unwritten: [writing, drawing].flatMap(({ problem }) => problem ?? []),
      }
    } finally {
      progress.end()
      await Promise.all([besides?.end(), follower?.end()])
      ports?.close()
      control?.close()
      cluster?.close()
      await engine?.close()
    }
  })
}

/** @throws UsageError if searches are not possible */
const planOfSearches = (
  { path }: LoadedConfig,
  { pace }: { readonly pace: 'virtual' | 'real' },
  { checkEveryMs, checkForMs = checkForMsDefault }: RunOptions,
): SearchPlan | undefined => {
  if (checkEveryMs === undefined) return undefined
  if (pace !== 'virtual') throw stopsTheClock(pace)
  if (path === '')
    throw new UsageError('--check-every: searches load the configuration: expected its path, found a system')
  return { everyMs: checkEveryMs, forMs: checkForMs }
}

/** Predicts while the run stands still. */
const predictInPlace = (predictor: Predictor, predictions: Predictions, everyMs: number) => ({
  everyMs,
  goesOn: true,
  get counts() {
    return predictor.counts
  },
  async search(from: {
    readonly step: number
    readonly atMs: number
    readonly state: () => Mark
    readonly soFar: RunSoFar
  }): Promise<void> {
    await predictions.take(from, await predictor.look(from.state(), from.soFar))
  },
})

const checkForMsDefault = 5000

/** What a search found. It is not part of the run, and was executed again. */
const foundBesides = (
  found: readonly FoundBesides[] = [],
): Pick<RunSummary, 'verdict' | 'property' | 'kind' | 'message'> | undefined => {
  const [first] = found
  if (first === undefined) return undefined
  const { property, kind, message, step, atMs } = first
  const place = `from step ${step} of the run, at ${atMs / 1000} s, a search found: `
  return { verdict: 'violated', property, kind, message: `${place}${message}` }
}

/** A CPU on which the nodes of this run are not held: by now this thread is pinned to theirs. */
const otherOf = (cpus: readonly number[]): number => {
  const own = allowedCpus()
  return cpus.find(cpu => !own.includes(cpu)) ?? cpus[0]!
}

const actionsOf = (inputs: readonly RecordedStep[]) => inputs.map(({ input }) => input as Timing['inputs'][number])

const secondsSince = (begun: number) => (performance.now() - begun) / 1000

const verdictOf = ({
  verdict,
  property,
  kind,
  message,
}: Pick<RunSummary, 'verdict' | 'property' | 'kind' | 'message'>) => ({
  verdict,
  property,
  kind,
  message,
})

const timingOf = (
  system: ResolvedSystem,
  { churn, links: changes, pauseOf, pace, ...wiring }: EmulationOptions & { readonly pace: 'virtual' | 'real' },
): { timing: Timing; notes: readonly string[] } => {
  const { pipes, routes, hops, seed, links, notes } = planOf(
    system.nodes.map(({ name }) => ({ name, address: name })),
    wiring,
  )
  requireLinks(changes, links && new Links(links, routes))
  const timing: Timing = {
    pace,
    model: 1,
    initial: churn.initial,
    events: inOrder(churn.events, changes),
    wiring: { pipes, routes, ...(hops && { hops }), seed, ...(links && { links }) },
    pausesMs: Object.fromEntries(system.clients.map(({ name }) => [name, pauseOf(name)])),
    clocks: system.emulation.clocks,
    inputs: [],
  }
  return { timing, notes }
}

/** A violation counts only if the same steps, executed again from the start, violate again. */
const confirmed = async (
  violation: Violation,
  labels: readonly string[],
  open: () => Cluster,
  { properties }: ResolvedSystem,
): Promise<Pick<RunSummary, 'verdict' | 'property' | 'kind' | 'message'>> => {
  const { step, message } = violation
  const kind = violation.kind as RunSummary['kind']
  const property = violation.property ?? null
  const again = await replay(open(), properties, labels.slice(0, step)).catch(error => {
    if (error instanceof BudgetSpent) return undefined
    throw error
  })
  if (again === undefined)
    return { verdict: 'undetermined', property, kind, message: `${message}; interrupted before it was executed again` }
  if (again.violation?.kind === violation.kind && (again.violation.property ?? null) === property)
    return { verdict: 'violated', property, kind, message }
  const why = again.diverged ? again.diverged.message : 'executed again, the same steps did not violate it'
  return { verdict: 'undetermined', property, kind, message: `${message}; ${why}` }
}
