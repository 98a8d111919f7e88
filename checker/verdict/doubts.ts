import { headline, type Violation } from '../cells/violation.ts'
import { counted } from '../system/brief.ts'
import type { Unfaithful } from '../system/errors.ts'
import type { Unsteady } from './verdict.ts'

/** Share of executions that may fail to repeat before the check is called unrepeatable. */
const notRepeatedShareMax = 0.001
/** With fewer failures to repeat than this, even beyond that share, chance is not ruled out. */
const doubtsMax = 3
/** With more executions than this share cut short, the search does little but those. */
const cutShortShareMax = 0.05
/** Share of executions in which a property may stay undecided. With more, `held` would leave out the long histories. */
const undecidedShareMax = 0.01

/**
 * What speaks against the executions of a search: some did not repeat, some do not count, some ended early, and in
 * some a property could not be decided.
 */
export class Doubts {
  /** A line for each finding that did not repeat. */
  readonly #findings: string[] = []
  /** One line for each schedule that could be executed once, but not again. */
  readonly #schedules: string[] = []
  #unsteady: Unsteady | undefined
  #unfaithful = 0
  /** Why executions do not count: the reason of the first one. */
  #disturbance: string | undefined
  /** Reasons of executions that do not count because a turn was cut short, since the search last began. */
  readonly #cutShort: string[] = []
  /** Executions that ended by a crash or divergence which is no violation, since the search last began. */
  #broken = 0
  /** The first of these crashes or divergences. */
  #firstFinding: string | undefined
  #undecided = 0
  /** Why the first undecided execution is. */
  #firstUndecided: string | undefined
  #undecidedIn: Unsteady | undefined

  /** A finding did not repeat. @param line what it was, and what happened instead */
  findingDiffers(line: string): void {
    this.#findings.push(line)
  }

  /** A schedule that had been executed before could not be executed again. @param what happened instead */
  scheduleDiffers(what: string): void {
    this.#schedules.push(`a schedule that had been executed before ${what}`)
  }

  /** Remembers the first schedule that had different results. */
  differs(unsteady: Unsteady): void {
    this.#unsteady ??= unsteady
  }

  /** An execution does not count. */
  doesNotCount({ what, isCutShort }: Unfaithful): void {
    this.#unfaithful += 1
    this.#disturbance ??= what
    if (isCutShort) this.#cutShort.push(what)
  }

  /** An execution ended by a crash or divergence that was not looked for. */
  isBroken({ message }: Violation): void {
    this.#broken += 1
    this.#firstFinding ??= headline(message)
  }

  /** A property could not be decided in an execution. */
  isUndecided(why: string, where: Unsteady): void {
    this.#undecided += 1
    this.#firstUndecided ??= why
    this.#undecidedIn ??= where
  }

  /** The search begins anew and relies on less: what did not repeat may have had the same cause. */
  beginAnew(): void {
    this.#findings.length = 0
    this.#schedules.length = 0
    this.#cutShort.length = 0
    this.#broken = 0
  }

  /** One line for each thing that did not repeat since the search last began. */
  get notRepeated(): readonly string[] {
    return [...this.#findings, ...this.#schedules]
  }

  /** The schedule of the first of all that did not repeat. */
  get unsteady(): Unsteady | undefined {
    return this.#unsteady
  }

  /** How many executions do not count. */
  get unfaithful(): number {
    return this.#unfaithful
  }

  get disturbance(): string | undefined {
    return this.#disturbance
  }

  /** Why nothing can be concluded from this many executions that repeated; undefined if something can. */
  againstHeld(executions: number): string | undefined {
    const [first] = this.#schedulesMayDiffer(executions) ? this.#findings : this.notRepeated
    return first === undefined ? undefined : `what was found does not repeat: ${first}`
  }

  /** A few may fail on a busy machine and say nothing about the others. */
  #schedulesMayDiffer(executions: number): boolean {
    return this.#schedules.length <= notRepeatedShareMax * executions
  }

  /** Whether too much failed to repeat, so that nothing can be concluded from the other executions. */
  areTooMany(executions: number): boolean {
    const doubts = this.notRepeated.length
    return doubts >= doubtsMax && doubts > notRepeatedShareMax * executions
  }

  /** A line with the number of executions that did not repeat, and the first of them. */
  describe(executions: number): string {
    return `${this.notRepeated.length} of ${executions} executions did not repeat, the first: ${this.notRepeated[0]}`
  }

  /** Whether turns were cut short in too many executions. Those do not count, so the search hardly makes progress. */
  areCutShort(executions: number): boolean {
    const cut = this.#cutShort.length
    return cut >= doubtsMax && cut > cutShortShareMax * executions
  }

  /** One line about the executions that were cut short. */
  describeCutShort(): string {
    return `${this.#cutShort.length} executions did not count, the first: ${this.#cutShort[0]}`
  }

  /** How many executions ended by a crash or divergence that was not looked for. */
  get broken(): number {
    return this.#broken
  }

  /** One line about these executions; undefined if there were none. */
  describeBroken(executions: number): string | undefined {
    if (this.#broken === 0) return undefined
    return `${this.#broken} of ${counted(executions, 'execution')} ended by a crash or divergence, which was not looked for, and what comes after it was not searched; the first: ${this.#firstFinding}`
  }

  /** The first execution in which a property could not be decided. */
  get undecidedIn(): Unsteady | undefined {
    return this.#undecidedIn
  }

  /** Whether a property was undecided in too many executions. */
  leaveTooMuchOpen(executions: number): boolean {
    return this.#undecided > undecidedShareMax * executions
  }

  /** One line about executions in which a property was undecided; undefined if there were none. */
  describeUndecided(executions: number): string | undefined {
    if (this.#firstUndecided === undefined) return undefined
    return `in ${this.#undecided} of ${executions} executions ${this.#firstUndecided}`
  }
}
