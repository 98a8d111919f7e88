import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import PQueue from 'p-queue'
import { Batches } from '../../campaign/queue/batches.ts'
import type { QueueEngine } from '../../campaign/queue/engine.ts'
import { bucketOf } from '../../campaign/schedules/bucket.ts'
import { select } from '../../checker/cells/select.ts'
import { headline } from '../../checker/cells/violation.ts'
import { checkInCells } from '../../checker/check.ts'
import { counted } from '../../checker/system/brief.ts'
import { Budget } from '../../checker/system/budget.ts'
import { NotWritten } from '../../checker/system/written.ts'
import { Meetings } from '../../checker/verdict/sights.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import { type ResolvedSystem, resolveSystem } from '../../harness/config/config.ts'
import { describeMet, metBy, type WhatWasMet } from '../check/met.ts'
import { neverMet } from '../check/notes.ts'
import { recordFound } from '../check/record-found.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { keepSchedule } from '../schedules/keep.ts'
import { clocksStartFor } from '../session/clocks-start.ts'
import { inSession } from '../session/session.ts'
import { requirePlace } from '../traces/record.ts'
import type { ViolatedVerdict } from '../traces/recorded.ts'
import { errorOf, type Failure } from '../workers/failure.ts'
import { StatesMet } from './states-met.ts'

/** A bug that a campaign found. */
export interface Bug {
  readonly system: string
  readonly property: string | null
  readonly kind: ViolatedVerdict['kind']
  readonly message: string
  /** Equal for all schedules of the same bug. */
  readonly bucket: string
  /** Number of rounds that found it. */
  readonly times: number
  /** Paths of the kept schedule, its trace and the trace's report. */
  readonly file: string | null
  readonly trace: string | null
  readonly report: string | null
}

/** One check of a campaign, with its own random numbers and its own budget of executions. */
export interface Round
  extends Pick<Verdict, 'verdict' | 'property' | 'kind' | 'executions' | 'steps' | 'states' | 'seconds'> {
  readonly system: string
  /** Index among the rounds of its system, from 0. */
  readonly ordinal: number
  readonly message: string
}

export interface CampaignOptions {
  readonly engine: QueueEngine
  /** Seed of the first round. Each later round adds one. */
  readonly seed: number
  readonly milliseconds?: number | undefined
  /** Limit on the executions of each system. */
  readonly executions?: number | undefined
  readonly property?: string | undefined
  readonly out: string
  /** Directory for schedules; by default beside each configuration. */
  readonly schedules?: string | undefined
  readonly signal: AbortSignal
  /** Called after each change. */
  readonly onChange?: ((campaign: Campaign) => void) | undefined
}

/** The state of a campaign. */
export interface Campaign {
  readonly rounds: readonly Round[]
  readonly bugs: readonly Bug[]
  /** Distinct states of all rounds, as far as they are remembered. */
  readonly states: number
  /** By `sometimes` property, the number of executions in which it was met. */
  readonly sometimes: Readonly<Record<string, number>>
  /** Counts of what the rounds of each system met, and the same in lines for a person. */
  readonly met: Readonly<Record<string, WhatWasMet>>
  readonly metLines: readonly string[]
  readonly notes: readonly string[]
  readonly seconds: number
  /** A line for each file that could not be written. */
  readonly unwritten: readonly string[]
}

/**
 * The n-th round has n times as many executions as the first, up to a limit, because longer searches find what short
 * ones miss.
 */
const roundExecutions = 128
const roundExecutionsMax = 4_096
/** Cells of one round. No search works on more executions at once. */
const cellsOfRound = 8

/**
 * Checks systems again and again with other random numbers, until time or executions run out. Bugs are kept as
 * schedules.
 */
export const runCampaign = async (configs: readonly LoadedConfig[], options: CampaignOptions): Promise<Campaign> => {
  requirePlace(resolve(options.out))
  const systems = configs.map(config => new SystemUnderCampaign(config, options))
  return new Rounds(systems, options).run()
}

class SystemUnderCampaign {
  readonly config: LoadedConfig
  readonly system: ResolvedSystem
  /** The system, with only the selected properties. */
  readonly checked: ResolvedSystem
  /** Date that nodes' clocks show first: the same in all rounds, whatever the day. */
  readonly clocksStart: string
  readonly #sizes: Iterator<number, undefined>
  /** Counts of what all of its rounds met. */
  readonly meetings = new Meetings()
  rounds = 0
  executions = 0

  constructor(config: LoadedConfig, { executions, property }: CampaignOptions) {
    this.config = config
    this.system = resolveSystem(config.definition, { directory: config.directory })
    this.checked = { ...this.system, properties: select(this.system.properties, property) }
    this.clocksStart = clocksStartFor(this.system)
    this.#sizes = roundSizes(executions)
  }

  /** Number of executions of its next round; undefined if its budget is spent. */
  nextSize(): number | undefined {
    return this.#sizes.next().value
  }
}

function* roundSizes(executions = Number.POSITIVE_INFINITY): Generator<number, undefined> {
  for (let left = executions, ordinal = 1; left > 0; ordinal++) {
    const size = Math.min(left, roundExecutionsMax, ordinal * roundExecutions)
    left -= size
    yield size
  }
}

class Rounds {
  readonly #systems: readonly SystemUnderCampaign[]
  readonly #options: CampaignOptions
  readonly #begun = performance.now()
  readonly #budget: Budget
  readonly #rounds: Round[] = []
  readonly #bugs = new Map<string, Bug>()
  /** Undetermined results, each recorded once. */
  readonly #inDoubt = new Set<string>()
  readonly #states = new StatesMet()
  readonly #notes = new Set<string>()
  readonly #unwritten = new Set<string>()
  /** Ends all rounds once one has failed, with its error. */
  readonly #failing = new AbortController()
  readonly #signal: AbortSignal
  /** Findings are executed again by this process, one at a time. */
  readonly #recording = new PQueue({ concurrency: 1 })

  constructor(systems: readonly SystemUnderCampaign[], options: CampaignOptions) {
    this.#systems = systems
    this.#options = options
    this.#signal = AbortSignal.any([options.signal, this.#failing.signal])
    // Each execution under way adds a listener; without this, Node.js would warn of a leak.
    setMaxListeners(0, this.#signal)
    this.#budget = new Budget({ milliseconds: options.milliseconds })
  }

  async run(): Promise<Campaign> {
    const { engine } = this.#options
    const underWay = new PQueue({ concurrency: 2 * engine.width })
    for (const [system, ordinal, size] of this.#planned()) {
      await underWay.onSizeLessThan(1)
      if (this.#isOver) break
      underWay.add(() => this.#round(system, ordinal, size)).catch(error => this.#failing.abort(error))
    }
    await underWay.onIdle()
    await this.#recording.onIdle()
    this.#failing.signal.throwIfAborted()
    if (this.#rounds.length === 0) this.#notes.add(nothingDone(await engine.workers()))
    return this.#campaign
  }

  /** Rounds of all systems in turn. */
  *#planned(): Generator<readonly [SystemUnderCampaign, number, number]> {
    let systems = [...this.#systems]
    for (let ordinal = 0; systems.length > 0; ordinal++) {
      const sized = systems.map(system => [system, system.nextSize()] as const)
      for (const [system, size] of sized) if (size !== undefined) yield [system, ordinal, size]
      systems = sized.flatMap(([system, size]) => (size === undefined ? [] : [system]))
    }
  }

  get #isOver(): boolean {
    return this.#signal.aborted || this.#budget.milliseconds <= 0
  }

  async #round(of: SystemUnderCampaign, ordinal: number, executions: number): Promise<void> {
    if (this.#isOver) return
    const { engine, property, seed, milliseconds } = this.#options
    const { config, system, clocksStart } = of
    const batches = new Batches({
      engine,
      property,
      seed,
      clocksStart,
      config: config.path,
      errorOf: failure => errorOf(failure as Failure),
      onOutcome: ({ fingerprints }) => this.#meet(system.name, fingerprints),
      onNote: note => this.#notes.add(note),
    })
    const verdict = await checkInCells(batches.cells(cellsOfRound, ordinal), select(system.properties, property), {
      seed: seed + ordinal,
      executions,
      signal: this.#signal,
      ...(milliseconds !== undefined && { milliseconds: Math.max(1, this.#budget.milliseconds) }),
    })
    // Time ran out before the round began. Its own clock may be a fraction of a millisecond ahead of the campaign's.
    const { completed } = verdict.coverage
    if (verdict.verdict === 'undetermined' && completed === 0 && (this.#isOver || verdict.executions === 0)) return
    of.meetings.addMet(verdict.met)
    of.rounds += 1
    of.executions += verdict.executions
    const { notes, schedule: _, ...others } = verdict
    for (const note of notes) this.#notes.add(note)
    this.#rounds.push({ ...roundOf(others), system: system.name, ordinal })
    if (verdict.verdict === 'violated') {
      // The nodes' seed is the sum of the campaign's seed and this variant.
      const found = { ...verdict, seed, variant: ordinal + verdict.variant } as ViolatedVerdict
      await this.#recording.add(() => this.#record(of, found))
    } else if (verdict.verdict === 'undetermined') {
      const { inDoubt } = verdict
      const found: Verdict = {
        ...{ ...verdict, seed, variant: ordinal + verdict.variant },
        inDoubt: inDoubt && { ...inDoubt, variant: ordinal + inDoubt.variant },
      }
      await this.#recording.add(() => this.#recordDoubt(of, found))
    }
    this.#tell()
  }

  #meet(system: string, fingerprints: readonly (string | undefined)[]): void {
    for (const fingerprint of fingerprints) if (fingerprint !== undefined) this.#states.add(system, fingerprint)
  }

  /** Records a bug when it is found for the first time, and counts it each time. */
  async #record({ config, clocksStart }: SystemUnderCampaign, found: ViolatedVerdict): Promise<void> {
    const bucket = bucketOf({ ...found, labels: found.schedule })
    const { name } = config.definition
    const key = `${name} ${bucket}`
    const known = this.#bugs.get(key)
    const { property, kind } = found
    if (known?.trace && existsSync(known.trace)) {
      await this.#keep(known.trace, config)
      this.#bugs.set(key, { ...known, times: known.times + 1 })
      return
    }
    const { seed, out, property: alone, signal } = this.#options
    const { verdict, trace, report, unwritten } = await inSession(config, { seed, clocksStart, signal }, session =>
      recordFound(session, found, { options: { seed, out, property: alone }, growth: [] }),
    )
    if (verdict.verdict !== 'violated') {
      this.#notes.add(`a violation did not repeat: ${headline(verdict.message)}`)
      return
    }
    for (const line of unwritten ?? []) this.#unwritten.add(line)
    const file = trace && (await this.#keep(trace, config))
    const message = headline(verdict.message)
    const times = (known?.times ?? 0) + 1
    this.#bugs.set(key, { system: name, property, kind, message, bucket, times, file, trace, report })
    // Its schedule is nowhere else.
    if (file === null) this.#notes.add(`${message}: ${verdict.schedule.map(label => `"${label}"`).join(', ')}`)
  }

  /** Records the first of its kind that could not be decided. */
  async #recordDoubt({ config, clocksStart }: SystemUnderCampaign, found: Verdict): Promise<void> {
    const { name } = config.definition
    const kind = `${name} ${found.property ?? headline(found.message)}`
    if (this.#inDoubt.has(kind) || this.#signal.aborted) return
    this.#inDoubt.add(kind)
    const { seed, out, property, signal } = this.#options
    const { trace, unwritten = [] } = await inSession(config, { seed, clocksStart, signal }, session =>
      recordFound(session, found, { options: { seed, out, property }, growth: [] }),
    )
    for (const line of unwritten) this.#unwritten.add(line)
    if (trace) this.#notes.add(`${name} is undetermined: ${headline(found.message)}; trace: ${trace}`)
  }

  /** The path of the kept schedule; null if it could not be written. */
  async #keep(trace: string, config: LoadedConfig): Promise<string | null> {
    const directory = this.#options.schedules ?? join(dirname(config.path), 'schedules')
    try {
      return (await keepSchedule(trace, directory)).path
    } catch (error) {
      if (!(error instanceof NotWritten)) throw error
      this.#unwritten.add(error.message)
      return null
    }
  }

  get #campaign(): Campaign {
    const rounds = [...this.#rounds].sort(
      (one, other) => one.ordinal - other.ordinal || (one.system < other.system ? -1 : 1),
    )
    const bugs = [...this.#bugs.values()].sort((one, other) => (one.bucket < other.bucket ? -1 : 1))
    const seconds = Number(((performance.now() - this.#begun) / 1000).toFixed(3))
    const { count, note } = this.#states
    const notes = [...[...this.#notes].sort(), ...this.#neverMet(), ...(note === undefined ? [] : [note])]
    const met = this.#met()
    const sometimes = this.#sometimes(met)
    const unwritten = [...this.#unwritten]
    return { rounds, bugs, states: count, sometimes, met, metLines: this.#metLines(met), notes, seconds, unwritten }
  }

  #met(): Record<string, WhatWasMet> {
    return Object.fromEntries(
      this.#systems.map(({ system, checked, meetings }) => [system.name, metBy(checked, meetings.met)]),
    )
  }

  #metLines(met: Readonly<Record<string, WhatWasMet>>): string[] {
    return this.#systems.flatMap(each =>
      describeMet(met[each.system.name]!, each.executions).map(line => this.#of(each, line, ': ')),
    )
  }

  /** Notes on what no round of a system met. */
  #neverMet(): string[] {
    return this.#systems
      .filter(({ rounds }) => rounds > 0)
      .flatMap(each => neverMet(each.checked, each.meetings.met).map(note => this.#of(each, note, ': ')))
  }

  #sometimes(met: Readonly<Record<string, WhatWasMet>>): Record<string, number> {
    return Object.fromEntries(
      this.#systems.flatMap(each =>
        Object.entries(met[each.system.name]!.sometimes).map(([name, count]) => [this.#of(each, name, '/'), count]),
      ),
    )
  }

  /** Adds the system's name if there are several systems. */
  #of({ system }: SystemUnderCampaign, text: string, separator: string): string {
    return this.#systems.length === 1 ? text : `${system.name}${separator}${text}`
  }

  #tell(): void {
    this.#options.onChange?.(this.#campaign)
  }
}

const nothingDone = (workers: readonly string[]): string =>
  `nothing was executed: ${workers.length === 0 ? 'no worker came' : workers.join('; ')}`

const roundOf = ({
  verdict,
  property,
  kind,
  executions,
  steps,
  states,
  seconds,
  message,
}: Omit<Verdict, 'schedule' | 'notes'>) => ({
  ...{ verdict, property, kind, executions, steps, states, seconds },
  message: headline(message),
})

/** A campaign as `--json` prints it. */
export interface CampaignOutcome extends Pick<Campaign, 'bugs' | 'met' | 'sometimes' | 'notes' | 'seconds'> {
  readonly verdict: Verdict['verdict']
  /** Property of the first bug. */
  readonly property: string | null
  readonly kind: Verdict['kind']
  readonly executions: number
  readonly steps: number
  /** Sum of the distinct states of each round. */
  readonly states: number
  readonly rounds: number
}

export const outcomeOfCampaign = ({ rounds, bugs, met, sometimes, notes, seconds }: Campaign): CampaignOutcome => {
  const sum = (count: (round: Round) => number) => rounds.reduce((total, round) => total + count(round), 0)
  const [bug] = bugs
  // After a violation that did not repeat, its round is in doubt.
  const isInDoubt =
    rounds.length === 0 ||
    rounds.some(
      ({ verdict, property, kind }) =>
        verdict === 'undetermined' ||
        (verdict === 'violated' && !bugs.some(each => each.property === property && each.kind === kind)),
    )
  return {
    verdict: bug ? 'violated' : isInDoubt ? 'undetermined' : 'held',
    property: bug?.property ?? null,
    kind: bug?.kind ?? null,
    executions: sum(({ executions }) => executions),
    steps: sum(({ steps }) => steps),
    states: sum(({ states }) => states),
    rounds: rounds.length,
    seconds,
    bugs,
    met,
    sometimes,
    notes,
  }
}

export const describeCampaign = (
  { bugs, notes, ...outcome }: CampaignOutcome,
  { metLines }: Pick<Campaign, 'metLines'>,
): string[] => [
  ...bugs.flatMap(({ kind, property, message, times, file, report }) => [
    `${kind}${property === null ? '' : ` ${property}`}, found in ${times} ${times === 1 ? 'round' : 'rounds'}: ${message}`,
    ...(file === null ? [] : [`    schedule: ${file}`]),
    ...(report === null ? [] : [`    report: ${report}`]),
  ]),
  ...notes.map(note => `note: ${note}`),
  ...metLines.map(line => `met: ${line}`),
  outcome.verdict,
  `${counted(outcome.rounds, 'round')}, ${counted(outcome.executions, 'execution')}, ${counted(outcome.steps, 'step')} in ${outcome.seconds.toFixed(1)} s`,
]
