import type { ViolationKind } from '../../checker/cells/violation.ts'
import { counted } from '../../checker/system/brief.ts'
import type { Run } from '../../harness/emulation/run.ts'
import { notSteered } from '../../harness/steering/counts.ts'
import { isOut, type Outage, type PropertyFigures } from '../../harness/timed/measurements.ts'
import type { ForwardedCounts } from '../../proxy/forwarding/counters.ts'
import { timerMsMax } from '../command/values.ts'
import type { FilterTimes, Predicted } from './predictions.ts'
import type { FoundBesides, Searched } from './search-besides.ts'

/** Distribution of measurements in milliseconds; undefined if there are none. */
export interface Quantiles {
  readonly count: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** The result of an emulated run, as `--json` prints it. */
export interface RunSummary {
  readonly verdict: 'violated' | 'held' | 'undetermined'
  /** The first property that a look found violated; for an `eventually` property, one that did not hold at the end. */
  readonly property: string | null
  readonly kind: ViolationKind | null
  readonly message: string
  /** Hash over labels, times, outputs and states: equal for equal runs; null at the pace `native`. */
  readonly hash: string | null
  readonly pace: 'virtual' | 'real' | 'native'
  /** Real duration of the run. */
  readonly seconds: number
  /** Duration by the run's clock. */
  readonly virtualSeconds: number
  /** Steps of its schedule; 0 at the pace `native`. */
  readonly steps: number
  /** How late steps were, in milliseconds; only at the pace `real`. */
  readonly late: Quantiles | undefined
  readonly seed: number
  /** What nodes' clocks showed first, as an ISO date and time. */
  readonly clocksStart: string
  /** `running`: nodes did not stop for a look, so a combined state that was seen may never have existed. */
  readonly lookedAt: 'still' | 'running'
  readonly looks: number
  /** Looks that found some property false. */
  readonly inconsistent: number
  /** How long everything stood still for a look. */
  readonly still: Quantiles | undefined
  /** How often the state of a running node could not be seen. */
  readonly unseen: number
  readonly properties: readonly (Omit<PropertyFigures, 'outages' | 'againMs'> & {
    readonly outages: number
    readonly longestMs: number
    /** Time from when it stopped holding until it held again. */
    readonly again: Quantiles | undefined
    readonly message: string
  })[]
  readonly faults: number
  readonly crashes: number
  /**
   * Time from a fault until all properties held, for faults after which some look found one false before the next
   * event.
   */
  readonly recovery: Quantiles | undefined
  readonly notRecovered: number
  /** Faults after which every look until the next event found all properties true. */
  readonly harmless: number
  readonly joins: Quantiles | undefined
  readonly clients: readonly {
    readonly name: string
    readonly calls: number
    readonly failed: number
    readonly callsPerSecond: number
    readonly latency: Quantiles | undefined
  }[]
  readonly packets: ForwardedCounts
  /** Violations that were predicted. */
  readonly predicted: number
  /** Interventions because of predictions. */
  readonly steered: number
  /** Steps that would have violated a property and were prevented by the immediate check. */
  readonly immediate: number
  /** Steps that violated a property although the run was steered. */
  readonly missed: number
  /** The results of prediction, if there was any. */
  readonly predictions?: Predicted | undefined
  /** The results of searches from states of the run, if there were any. */
  readonly searched?: Searched | undefined
  /** Notes that a reader must know to trust the verdict. */
  readonly notes: readonly string[]
  readonly trace: string | null
  readonly plot: string | null
  /** The file of the series, if they were asked for. */
  readonly series: string | null
}

/** A run, of which something may not be on disk. */
export interface Emulated {
  readonly summary: RunSummary
  /** A line for each file that could not be written. */
  readonly unwritten: readonly string[]
}

/** Notes on a run that ended because something of it could not be written. */
export const endedBy = (problem: string | undefined, seconds: number): string[] =>
  problem === undefined ? [] : [`${problem}: the run ended then, at ${seconds.toFixed(1)} s`]

interface Interrupted {
  /** How long it should have taken, in milliseconds, if it was interrupted before. */
  readonly interruptedOf: number | undefined
}

/** How long a run that was interrupted should have taken. One without a limit is ended so. */
export const interruptedOf = ({ aborted }: AbortSignal, forMs: number): number | undefined =>
  aborted && forMs < timerMsMax ? forMs : undefined

/** The summary of measurements. What only a run with held nodes knows is added by its caller. */
export const summaryOf = (
  { measurements, calls, timed: allTimed, counts, steering = notSteered }: Run,
  {
    seed,
    clocksStart,
    seconds,
    virtualSeconds,
    pace,
    lookedAt,
    interruptedOf,
  }: Pick<RunSummary, 'seed' | 'clocksStart' | 'seconds' | 'virtualSeconds' | 'pace' | 'lookedAt'> & Interrupted,
): Omit<RunSummary, 'trace' | 'plot' | 'series'> => {
  const endMs = virtualSeconds * 1000
  const { looks, properties, recoveries, joinTimes, happenings, unseen } = measurements
  return {
    ...conclusionOf(properties, happenings.find(({ isCrash }) => isCrash)?.label, looks.length, {
      endMs,
      nothingSeen: measurements.observed.nothing,
      interruptedOf,
      // The violation of a step counts at that step, once it was executed again.
      isRepeatable: pace !== 'native',
    }),
    hash: null,
    pace,
    seconds,
    virtualSeconds,
    steps: 0,
    late: undefined,
    seed,
    clocksStart,
    lookedAt,
    looks: looks.length,
    inconsistent: looks.filter(({ without }) => without > 0).length,
    still: distributionOf(looks.map(({ stillMs }) => stillMs)),
    unseen,
    properties: properties.map(({ outages, againMs, ...figures }) => ({
      ...figures,
      outages: outages.length,
      longestMs: Math.max(0, ...outages.map(outage => lengthOf(outage, endMs))),
      again: distributionOf(againMs),
      message: outages[0]?.message ?? '',
    })),
    faults: recoveries.length,
    crashes: happenings.filter(({ isCrash }) => isCrash).length,
    recovery: distributionOf(recoveries.flatMap(({ tookMs }) => tookMs || [])),
    notRecovered: recoveries.filter(({ tookMs }) => tookMs === undefined).length,
    harmless: recoveries.filter(({ tookMs }) => tookMs === 0).length,
    joins: distributionOf(joinTimes),
    clients: [...new Set(calls.map(({ client }) => client))].map(name => {
      const timed = allTimed.filter(({ client }) => client === name)
      const failed = timed.filter(({ isOk }) => !isOk).length
      const latency = distributionOf(timed.filter(({ isOk }) => isOk).map(({ tookMs }) => tookMs))
      return { name, calls: timed.length, failed, callsPerSecond: timed.length / virtualSeconds, latency }
    }),
    packets: counts,
    ...steering,
    notes: measurements.unmet.map(name => `${name} was never met: it held in none of ${looks.length} looks`),
  }
}

const lengthOf = ({ fromMs, untilMs }: Outage, endMs: number) => (untilMs ?? endMs) - fromMs

/** The verdict. An emulated run happens once, and a property that did not hold at the end might have held later. */
const conclusionOf = (
  properties: readonly PropertyFigures[],
  crash: string | undefined,
  looks: number,
  {
    endMs,
    isRepeatable,
    nothingSeen,
    interruptedOf,
  }: Interrupted & {
    readonly endMs: number
    readonly isRepeatable: boolean
    readonly nothingSeen: string | undefined
  },
): Pick<RunSummary, 'verdict' | 'property' | 'kind' | 'message'> => {
  const unsafe = properties.find(({ kind, outages }) => kind === 'always' && outages.length > 0)
  if (unsafe) {
    const { fromMs, message } = unsafe.outages[0]!
    const first = `${unsafe.name} did not hold in ${unsafe.looksWithout} of ${looks} looks, first at ${inSeconds(fromMs)}`
    return { verdict: 'violated', property: unsafe.name, kind: 'safety', message: withDetail(first, message) }
  }
  if (crash) return { verdict: 'violated', property: null, kind: 'crash', message: crash }
  const slow = properties
    .flatMap(({ name, withinMs, outages }) => outages.map(outage => ({ ...outage, name, withinMs })))
    .find(({ withinMs, untilMs, fromMs }) => (untilMs ?? endMs) - fromMs > (withinMs ?? Number.POSITIVE_INFINITY))
  if (slow) {
    const { name, fromMs, withinMs, message } = slow
    const first = `${name} did not hold for ${inSeconds(lengthOf(slow, endMs))} from ${inSeconds(fromMs)} on, expected within ${inSeconds(withinMs!)}`
    const verdict = isRepeatable ? 'undetermined' : 'violated'
    return { verdict, property: name, kind: 'liveness', message: withDetail(first, message) }
  }
  const out = properties.find(({ kind, outages }) => kind === 'eventually' && isOut(outages))
  if (out) {
    const { fromMs, message } = out.outages.at(-1)!
    const since = `${out.name} did not hold any more from ${inSeconds(fromMs)} on: it may yet have`
    return { verdict: 'undetermined', property: out.name, kind: 'liveness', message: withDetail(since, message) }
  }
  if (looks === 0)
    return {
      verdict: 'undetermined',
      property: null,
      kind: null,
      message: 'nothing was looked at: it was over before the first look',
    }
  if (nothingSeen !== undefined) return { verdict: 'undetermined', property: null, kind: null, message: nothingSeen }
  const message = `every property held in the end, and those that must always hold in all of ${looks} looks`
  if (interruptedOf !== undefined) {
    const after = `interrupted after ${inSeconds(endMs)} of ${inSeconds(interruptedOf)}`
    return { verdict: 'undetermined', property: null, kind: null, message: `${after}; until then ${message}` }
  }
  return { verdict: 'held', property: null, kind: null, message }
}

const withDetail = (line: string, detail: string) => (detail === '' ? line : `${line}\n${detail}`)

export const distributionOf = (values: readonly number[]): Quantiles | undefined => {
  if (values.length === 0) return undefined
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: sorted.at(-1)! }
}

export const describeRun = (summary: RunSummary): string[] => {
  const { verdict, property, kind, message, looks, inconsistent, packets } = summary
  const what = [kind, property].filter(word => word !== null).join(' ')
  return [
    what === '' ? verdict : `${verdict}: ${what}`,
    message,
    `${durationOf(summary)}, ${looks} looks, ${inconsistent} of them inconsistent, ${summary.faults} faults, ${summary.crashes} crashes`,
    ...summary.properties.flatMap(({ name, looksWithout, outages, longestMs, again }) => [
      `  ${name}: not in ${looksWithout} of ${looks} looks${outages === 0 ? '' : `, ${outages === 1 ? 'once' : `${outages} times`}, at most ${inSeconds(longestMs)}`}`,
      ...line(`  ${name}, until it held again`, again),
    ]),
    ...line('time to recover', summary.recovery),
    ...(summary.faults > 0
      ? [`  faults: ${summary.harmless} without harm, ${summary.notRecovered} without recovery`]
      : []),
    ...line('time to join', summary.joins),
    ...summary.clients.flatMap(({ name, calls, failed, callsPerSecond, latency }) => [
      `  ${name}: ${calls} calls, ${callsPerSecond.toFixed(1)} a second, ${failed} failed`,
      ...line(`${name}, latency`, latency),
    ]),
    ...line('stood still for a look', summary.still),
    ...(summary.lookedAt === 'running'
      ? ['  nothing waited for looks: a state that was seen may never have been']
      : []),
    ...(summary.unseen > 0 ? [`  states not seen: ${summary.unseen}`] : []),
    `  packets: ${packets.forwarded} forwarded (${Math.round(packets.bytes / 1e6)} MB), ${packets.lost} lost, ${packets.overflowed} found a full queue, ${packets.cut} cut`,
    ...line('later than due', summary.late),
    ...describeSteering(summary),
    ...describePredicted(summary),
    ...describeSearched(summary.searched),
    ...summary.notes.map(note => `  ${note}`),
    ...(summary.hash === null ? [] : [`  hash: ${summary.hash}`]),
    ...[summary.trace, summary.plot, summary.series].filter(path => path !== null).map(path => `written: ${path}`),
  ]
}

const describeSteering = ({ steered, immediate, missed }: RunSummary): string[] =>
  steered + immediate + missed === 0
    ? []
    : [
        `  steered: ${counted(steered, 'step')} prevented by prediction, ${immediate} by the immediate check, ${missed} missed`,
      ]

const describePredicted = ({ predictions: predicted, predicted: times }: RunSummary): string[] => {
  if (predicted === undefined) return []
  const { rounds, inputs, transitions, seconds, behindMs, filters, found } = predicted
  const behind = behindMs === undefined ? '' : `, at most ${inSeconds(behindMs)} behind the run`
  return [
    `  predicted in ${counted(rounds, 'round')}: ${counted(inputs, 'input')} of nodes and ${counted(transitions, 'step')} in memory in ${seconds.toFixed(1)} s, ${counted(times, 'violation')}${behind}`,
    ...describeFilters(filters),
    ...found.map(each => `  predicted ${describeFound(each)}`),
  ]
}

const describeFilters = (filters: FilterTimes | undefined): string[] => {
  if (filters === undefined || filters.inTime + filters.late === 0) return []
  const { inTime, late, lateMs } = filters
  const most = late > 0 ? `, by ${inSeconds(lateMs)} at most` : ''
  return [`  what to prevent was known in time in ${counted(inTime, 'round')}, late in ${late}${most}`]
}

const describeFound = ({ step, atMs, kind, property, trace }: FoundBesides): string =>
  `from step ${step}, at ${inSeconds(atMs)}: ${[kind, property].filter(word => word !== null).join(' ')}: ${trace}`

const describeSearched = (searched: Searched | undefined): string[] => {
  if (searched === undefined) return []
  const { searches, executions, seconds, found } = searched
  return [
    `  searched from ${searches} of its states: ${counted(executions, 'execution')} in ${seconds.toFixed(1)} s, ${counted(found.length, 'violation')}`,
    ...found.map(each => `  found ${describeFound(each)}`),
  ]
}

const durationOf = ({ pace, seconds, virtualSeconds, steps }: RunSummary) =>
  pace === 'native'
    ? `${seconds.toFixed(1)} s`
    : `${virtualSeconds.toFixed(1)} s of its time in ${seconds.toFixed(1)} s, ${steps} steps`

const line = (name: string, found: Quantiles | undefined, more = ''): string[] => {
  if (found === undefined) return []
  const { count, p50, p90, p99, max } = found
  return [
    `  ${name}: ${inSeconds(p50)} median, ${inSeconds(p90)} p90, ${inSeconds(p99)} p99, ${inSeconds(max)} at most (${count})${more}`,
  ]
}

const inSeconds = (milliseconds: number) =>
  milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(1)} s`
