import { join, resolve } from 'node:path'
import { boundOfNone, executeNear, perturbation, perturbations } from '../../campaign/schedules/near.ts'
import type { Schedule } from '../../campaign/schedules/schedule.ts'
import { Executor, type Properties } from '../../checker/cells/executor.ts'
import { untilHealthy } from '../../checker/cells/healthy.ts'
import { headline } from '../../checker/cells/violation.ts'
import { walk } from '../../checker/cells/walk.ts'
import { chooserOf } from '../../checker/choosers/named.ts'
import { Surprises } from '../../checker/choosers/surprise.ts'
import { Budget, BudgetSpent } from '../../checker/system/budget.ts'
import { DoesNotStart, UsageError } from '../../checker/system/errors.ts'
import { Random } from '../../checker/system/random.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import { replayCommand } from '../../report/model/again.ts'
import { fileNameOf } from '../command/file-name.ts'
import { newPlace } from '../command/store.ts'
import { inSession, type Session } from '../session/session.ts'
import { lookForLifeAfter, recordConfirmed } from '../traces/confirm.ts'
import { requirePlace } from '../traces/record.ts'
import { sessionKept } from '../traces/recorded.ts'
import { configOfSchedule, keptAt, misfitOf } from './regress.ts'

/** The result of a search around a schedule. */
export interface Confirmed {
  readonly file: string
  readonly property: string | null
  /**
   * `passes`: no execution violated anything. `no longer applies`: no execution came near the schedule, or one violated
   * something that new processes did not repeat.
   */
  readonly outcome: 'fails' | 'passes' | 'no longer applies'
  readonly executions: number
  /** Executions that took at least three quarters of the schedule's steps. */
  readonly near: number
  /** Upper end of the 95 % interval of the chance that such an execution violates something; null if one did. */
  readonly bound: number | null
  readonly seconds: number
  /** Path of the violating execution's trace. */
  readonly trace: string | null
  /** One line. */
  readonly message: string
  /** Why there is no trace of the violating execution, if there is none. */
  readonly unwritten?: readonly string[]
}

export interface ConfirmOptions {
  readonly milliseconds: number
  readonly executions?: number | undefined
  readonly config?: string | undefined
  readonly seed: number
  readonly out: string
  readonly onExecution?: ((done: number, near: number) => void) | undefined
}

/** Minimum length of walks that look for a live state after an execution. */
const walkLengthMin = 64

/**
 * Searches around a kept schedule, perturbed at each of its steps, until an execution violates something or time is
 * over.
 */
export const confirmSchedule = async (path: string, options: ConfirmOptions): Promise<Confirmed> => {
  const [kept, another] = keptAt(path)
  if (another) throw new UsageError(`expected one schedule, and ${path} has several`)
  const config = await configOfSchedule(kept!, options.config)
  requirePlace(resolve(options.out))
  const { schedule } = kept!
  return inSession(config, sessionKept(schedule), session =>
    new Around(session, kept!.path, schedule, options).search(),
  )
}

class Around {
  readonly #session: Session
  readonly #file: string
  readonly #schedule: Schedule
  readonly #options: ConfirmOptions
  readonly #begun = performance.now()
  #executions = 0
  #near = 0
  /** The first violation that new processes did not repeat. */
  #unrepeated: string | undefined

  constructor(session: Session, file: string, schedule: Schedule, options: ConfirmOptions) {
    this.#session = session
    this.#file = file
    this.#schedule = schedule
    this.#options = options
  }

  async search(): Promise<Confirmed> {
    const { system, cluster, signal } = this.#session
    const { milliseconds, executions, seed } = this.#options
    const random = new Random(seed)
    const { kind } = this.#schedule
    const labels = untilHealthy(this.#schedule.labels)
    // A schedule of a violation in the initial state has no step.
    const places = Math.max(1, labels.length)
    const executor = new Executor(cluster, this.#properties)
    executor.budget = new Budget({ milliseconds, executions, signal })
    try {
      for (let ordinal = 0; ; ordinal++) {
        executor.budget.takeExecution()
        const variant = kind === 'liveness' ? 0 : Math.floor(ordinal / (places * perturbations.length))
        const around = { variant, weights: system.weights, random: random.fork() }
        const { isNear } = await executeNear(executor, labels, perturbation(ordinal, places), around)
        const { violation } = executor
        if (violation?.kind === 'crash' && violation.step === 0) throw new DoesNotStart(violation)
        this.#executions += 1
        if (isNear) this.#near += 1
        this.#options.onExecution?.(this.#executions, this.#near)
        const failed = violation ? await this.#record(executor, variant) : await this.#lookForDeath(executor, variant)
        if (failed) return failed
      }
    } catch (error) {
      if (!(error instanceof BudgetSpent) || error.what === 'aborted') throw error
    }
    return this.#conclude()
  }

  get #properties(): Properties<GlobalState> {
    const { property } = this.#schedule
    if (property === null) return {}
    const { properties } = this.#session.system
    const misfit = misfitOf(this.#schedule, properties)
    if (misfit !== undefined) throw new UsageError(`${this.#file} no longer applies: ${misfit}`)
    return { [property]: properties[property]! }
  }

  /** The violation, after new processes repeated it; undefined if they did not. */
  async #record(executor: Executor<GlobalState>, variant: number): Promise<Confirmed | undefined> {
    const { kind, property = null, message, step } = executor.violation!
    const schedule = executor.labels().slice(0, step)
    executor.end()
    return this.#confirm({ kind, property, message, schedule, variant })
  }

  /** Tests whether a liveness property can hold again after an execution. */
  async #lookForDeath(executor: Executor<GlobalState>, variant: number): Promise<Confirmed | undefined> {
    const { kind, property, criticalTransition } = this.#schedule
    if (kind !== 'liveness' || executor.broken || executor.judgedHealthy.length > 0) return undefined
    const schedule = executor.labels()
    const length = criticalTransition?.walkLength ?? walkLengthMin
    const chooser = chooserOf({ chooser: 'healthy', seed: 1, length }, this.#session.system.weights, new Surprises([]))
    const end = await walk(executor, chooser, length, () => executor.isLive(property!))
    executor.end()
    if (end === 'goal') return undefined
    const { isDead, what } = await lookForLifeAfter(this.#session, { property, criticalTransition, schedule })
    if (!isDead) return undefined
    return this.#confirm({ kind, property, message: `${property} does not hold again: it ${what}`, schedule, variant })
  }

  async #confirm(
    found: Pick<Schedule, 'kind' | 'property' | 'message'> & { schedule: readonly string[]; variant: number },
  ): Promise<Confirmed | undefined> {
    const claimed = { ...found, verdict: 'violated', criticalTransition: null, repeated: true } as const
    const name = `${fileNameOf(found.property ?? found.kind)}.trace`
    const trace = join(newPlace(resolve(this.#options.out), this.#session.system.name), name)
    const { onExecution: _, ...given } = this.#options
    const { timing } = sessionKept(this.#schedule)
    const options = { ...given, ...(timing && { timing }) }
    const { confirmed, unwritten } = await recordConfirmed<
      typeof claimed | (Omit<typeof claimed, 'verdict'> & { verdict: 'undetermined' })
    >(this.#session, trace, claimed, { options, property: this.#schedule.property ?? undefined })
    if (confirmed.verdict !== 'violated') {
      this.#unrepeated ??= confirmed.message
      return undefined
    }
    const told = { ...this.#told, outcome: 'fails', bound: null } as const
    const message = headline(found.message)
    if (unwritten === undefined) return { ...told, trace, message }
    const steps = found.schedule.map(label => `"${label}"`).join(', ')
    return { ...told, trace: null, message: `${message}; its schedule: ${steps}`, unwritten: [unwritten] }
  }

  get #told() {
    const seconds = Number(((performance.now() - this.#begun) / 1000).toFixed(3))
    const { property } = this.#schedule
    return { file: this.#file, property, executions: this.#executions, near: this.#near, seconds }
  }

  #conclude(): Confirmed {
    const often = `${this.#near} of ${this.#executions} executions came near`
    const told = { ...this.#told, trace: null }
    if (this.#unrepeated !== undefined)
      return {
        ...told,
        outcome: 'no longer applies',
        bound: null,
        message: `${often}; one does not repeat: ${this.#unrepeated}`,
      }
    const bound = boundOfNone(this.#near)
    if (this.#near === 0)
      return { ...told, outcome: 'no longer applies', bound, message: `${often}: too few to draw a conclusion` }
    const message = `${often}, and none violated anything: with 95 % confidence, the chance that such an execution violates it is below ${bound.toPrecision(2)}`
    return { ...told, outcome: 'passes', bound, message }
  }
}

export const describeConfirmed = ({ outcome, file, message, seconds, trace }: Confirmed): string[] => [
  `${outcome}: ${file}`,
  message,
  `${seconds.toFixed(1)} s`,
  ...(trace ? [`trace: ${trace}`, `again: ${replayCommand(trace)}`] : []),
]
