import { Diverged } from '../../checker/system/errors.ts'
import { labelsOf } from '../../checker/system/labels.ts'
import { narrowed } from '../../checker/system/narrowed.ts'
import type { Choice, Finding, Step } from '../../checker/system/system.ts'
import { hasFailed } from '../clients/calls.ts'
import type { GlobalState, ResolvedSystem } from '../config/config.ts'
import { bytesRead } from '../hold/held/disk-reads.ts'
import { unlessInterrupted } from '../hold/turns/interruption.ts'
import type { Node } from '../node/node.ts'
import { systemInTime } from '../timed/timed-system.ts'
import { Alone } from './alone.ts'
import { AuditTurns, evidenceOf } from './audit.ts'
import { carryOut, prepareStart } from './carry-out.ts'
import { messagesTaken, type Option } from './choices/action.ts'
import { enabledOptions } from './choices/due.ts'
import { preemptionOption } from './choices/node-faults.ts'
import { heldBackIn } from './choices/timers.ts'
import { endStep, noDetails, type StepDetails } from './end-step.ts'
import type { WayThere } from './execution.ts'
import { faithfully } from './faithful.ts'
import { fingerprintOf, observedParts } from './fingerprint.ts'
import type { Recording } from './recording.ts'
import { Stage } from './stage.ts'
import { startAll } from './start.ts'
import { StartMarks } from './start-marks.ts'

/**
 * Nodes that wait for the disk are started at most this many times for an execution. From the second time on, most of
 * their files are in memory.
 */
const startsMax = 3

/** Drives the executions on a stage, one after another: starts them and executes their steps. */
export class Driver {
  readonly #stage: Stage
  readonly #seed: number
  readonly #recording: Recording
  readonly #auditTurns = new AuditTurns()
  readonly #startMarks: StartMarks
  /** Whether the execution repeats another one, whose results are compared with its own. */
  isRepeating = false
  /** The stages of the nodes that are executed alone. */
  readonly #alone = new Map<Node, Stage>()
  /** Whether the nodes are in an execution of the whole system. */
  #isWhole = false
  /** Starts that were repeated because a node had waited for the disk. */
  #startsInVain = 0
  /** Whether its nodes read files that do not stay in memory. */
  #readsAlways = false
  #options: readonly Option[] = []
  /** Whether a bound on delays or clocks has changed since the present options were computed. */
  #isBoundAnew = false
  #state: GlobalState
  #seen: GlobalState
  #details: StepDetails = noDetails
  /** The fingerprint of the present state, once somebody has asked for it. */
  #fingerprint: { readonly pastAsked: number; readonly text: string } | undefined

  /** @param seed of the nodes' random numbers, to which the variant of an execution is added */
  constructor(stage: Stage, seed: number, recording: Recording) {
    this.#stage = stage
    this.#seed = seed
    this.#recording = recording
    this.#startMarks = new StartMarks(stage)
    this.#state = stage.snapshot()
    this.#seen = stage.seen(this.#state)
  }

  /** The state after the last step, or the start. */
  get state(): GlobalState {
    return this.#state
  }

  /** What properties see of `state`. */
  get seen(): GlobalState {
    return this.#seen
  }

  /** What was sent and printed in the last step, or the start. */
  get details(): StepDetails {
    return this.#details
  }

  /** Why starts in which nodes waited for each other could not be kept, and how often. */
  get whyNotKept(): ReadonlyMap<string, number> {
    return this.#startMarks.reasons
  }

  /** How many starts of programs were repeated. */
  get startsInVain(): number {
    return this.#startsInVain
  }

  /** The fingerprint of what is observed now. Whoever records an execution asks for it a second time. */
  fingerprint(): string {
    if (this.#isBoundAnew) this.lookAgain()
    const { pastAsked } = this.#stage
    if (this.#fingerprint?.pastAsked !== pastAsked)
      this.#fingerprint = { pastAsked, text: fingerprintOf(observedParts(this.#stage.known(this.#state))) }
    return this.#fingerprint.text
  }

  enabled(): readonly Choice[] {
    if (this.#isBoundAnew) this.lookAgain()
    return this.#options.map(option => option.choice)
  }

  /** Computes the enabled choices again after somebody did something between steps. */
  lookAgain(): void {
    this.#isBoundAnew = false
    this.#fingerprint = undefined
    if (!this.#stage.execution.isOver) this.#options = enabledOptions(this.#stage.moment())
  }

  /** No step can be executed any more, only a new start. */
  leave(): void {
    this.#options = []
  }

  setDelayMsMax(milliseconds: number): void {
    const before = this.#stage.delayMsMax
    this.#stage.delayMsMax = Math.min(milliseconds, this.#stage.system.delayMsMax)
    this.#isBoundAnew ||= this.#stage.delayMsMax !== before
  }

  setSkewMsMax(milliseconds: number): void {
    const before = this.#stage.skewMsMax
    this.#stage.skewMsMax = Math.min(milliseconds, this.#stage.system.clockSkewMsMax)
    this.#isBoundAnew ||= this.#stage.skewMsMax !== before
  }

  /** @throws Unfaithful if the network was not faithful, or somebody else killed a node */
  reset(variant = 0): Promise<readonly Finding[]> {
    return faithfully(this.#stage, 'the start', () => this.#begin(variant))
  }

  /** @throws Unfaithful if the network was not faithful, or somebody else killed a node */
  execute(choice: Choice): Promise<Step> {
    return faithfully(this.#stage, choice.label, () => this.#carryOut(choice))
  }

  /**
   * Starts an execution and follows its schedule.
   *
   * @throws Diverged if it leads elsewhere, BudgetSpent if the time is over before
   */
  async follow({ variant, schedule }: WayThere): Promise<void> {
    await this.reset(variant)
    for (const [index, label] of schedule.entries()) {
      this.#stage.runner.checkTime()
      const choice = this.enabled().find(each => each.label === label) ?? narrowed(this.enabled(), label)
      if (choice === undefined) throw new Diverged(index + 1, label, labelsOf(this.enabled()))
      await this.execute(choice)
    }
  }

  /** Call after the stage was rewound to an earlier state. */
  comeBack(): void {
    this.#useWhole()
    this.#arrive({ options: enabledOptions(this.#stage.moment()), details: noDetails })
  }

  /**
   * Keeps the results of the steps from now on, if it is time to audit this execution.
   *
   * @param step the first that is compared
   */
  keepEvidence(step: number): void {
    const { execution, nodes } = this.#stage
    execution.evidenceFrom = step
    execution.beganInPlace = nodes.some(({ isResumed }) => isResumed)
    execution.evidence = this.#isCompared(execution.beganInPlace, step) ? [] : undefined
  }

  /** Whether nodes wait for each other in the start of a variant. Starts them, unless none of them says when it is ready. */
  async startTogether(variant: number): Promise<boolean> {
    const { timing, nodes } = this.#stage
    if (timing !== undefined || nodes.every(({ readiness }) => !readiness.isSaid)) return false
    await this.reset(variant)
    return this.#stage.execution.started.length > 0 && !this.#stage.execution.isOver
  }

  /**
   * Has a node executed alone, in turns with other nodes and with the whole system.
   *
   * @param searched how it is executed beside a run that is not searched itself
   */
  aloneOf(node: Node, searched?: ResolvedSystem): Alone {
    const { system, runner, nodes, timing, shared } = this.#stage
    const peers = nodes.filter(other => other !== node)
    const timed = searched && timing ? { ...timing, timesMs: undefined, isSearched: true } : timing
    const own = searched ? systemInTime(searched, timed) : system
    const stage = new Stage({ ...own, faults: unbounded(own.faults) }, [node], runner, { timing: timed, peers, shared })
    return new Alone(stage, {
      seed: this.#seed,
      index: nodes.indexOf(node),
      onUse: how => this.#useAlone(node, stage, how),
    })
  }

  /** Nothing is executed any more in the nodes, which stay where they are. */
  stop(): void {
    if (this.#isWhole) this.#stage.stopExecution()
    for (const { execution } of this.#alone.values()) execution.clients.close()
    this.#alone.clear()
    this.#isWhole = false
  }

  /** What a program opened since its start would be closed if it went back to its start first. */
  #useAlone(node: Node, stage: Stage, how: 'in place' | 'anew'): void {
    if (this.#isWhole && how === 'anew') this.endExecution()
    if (this.#isWhole) this.#stage.stopExecution()
    this.#isWhole = false
    const before = this.#alone.get(node)
    if (before === undefined && how === 'anew') node.end()
    if (before !== stage) before?.endExecution()
    this.#alone.set(node, stage)
  }

  /** The nodes are rewound in place from whatever each was executed in alone. */
  #useWhole(): void {
    for (const { execution } of this.#alone.values()) execution.clients.close()
    this.#alone.clear()
    this.#isWhole = true
  }

  endExecution(): void {
    for (const stage of this.#alone.values()) stage.endExecution()
    this.#alone.clear()
    this.#isWhole = false
    this.#stage.endExecution()
  }

  async #begin(variant: number): Promise<readonly Finding[]> {
    const begun = performance.now()
    const findings = this.#goBackToStart(variant) ? [] : await this.#start(variant)
    const { execution, soFar } = this.#stage
    if (soFar) execution.time?.takeUp(soFar)
    this.keepEvidence(0)
    this.#arrive(await endStep(this.#stage, { findings, touched: this.#stage.nodes }, [], begun))
    return findings
  }

  /** Goes back to the end of an earlier start of this variant, if it was kept as a whole. */
  #goBackToStart(variant: number): boolean {
    if (!this.#startMarks.has(variant)) return false
    this.#recording.begin()
    this.#useWhole()
    return this.#startMarks.goBack(variant)
  }

  /**
   * Starts all nodes. If a node had to wait for the disk, its threads ran in another order than they will once its
   * files are in memory. Such a start cannot be compared with others or rewound to, so all nodes are started again.
   */
  async #start(variant: number): Promise<Finding[]> {
    const { nodes } = this.#stage
    for (let times = 1; ; times++) {
      this.endExecution()
      this.#isWhole = true
      this.#recording.begin()
      const before = nodes.map(({ starts }) => starts)
      const findings = await startAll(this.#stage, variant, this.#seed)
      const waited = nodes.some(({ starts, held }, index) => starts > before[index]! && held && bytesRead(held) > 0)
      this.#readsAlways ||= waited && times === startsMax
      const isRepeatable = !waited || this.#readsAlways
      if (isRepeatable && (findings.length > 0 || this.#keepStart(variant))) return findings
      this.#startsInVain += nodes.reduce((sum, { starts }, index) => sum + starts - before[index]!, 0)
      this.#stage.endLives()
    }
  }

  /** Keeps a start in which nodes waited for each other. Returns false if that has cost the state. */
  #keepStart(variant: number): boolean {
    return this.#stage.execution.started.length === 0 || this.#startMarks.keep(variant)
  }

  async #carryOut(choice: Choice): Promise<Step> {
    const begun = performance.now()
    const chosen =
      this.#options.find(option => option.choice.label === choice.label) ?? preemptionOption(choice, this.#options)
    if (chosen === undefined) throw new Error(`"${choice.label}" is not enabled`)
    const { action } = chosen
    const { execution } = this.#stage
    execution.schedule.push(choice.label)
    if (execution.beganInPlace && !this.isRepeating) this.#auditTurns.countStep()
    execution.delayMs = undefined
    execution.skewMs = undefined
    this.#recording.nextStep()
    execution.time?.begin(execution.stepIndex, chosen.choice.due)
    await unlessInterrupted(prepareStart(this.#stage, action))
    this.#stage.rememberShared()
    const done = this.#stage.settleOthers(carryOut(this.#stage, chosen))
    this.#arrive(await endStep(this.#stage, done, messagesTaken(action), begun))
    const { delayMs, skewMs, clients } = execution
    const calls = clients.ended.map(call => ({ begun: call.invokedAt, failed: hasFailed(call) }))
    return {
      choice: chosen.choice,
      findings: done.findings,
      delayMs,
      skewMs,
      ...(calls.length > 0 && { calls }),
    }
  }

  #see(state: GlobalState): void {
    if (state !== this.#state) this.#seen = this.#stage.seen(state)
    this.#state = state
  }

  #arrive({ options, details }: { options: readonly Option[]; details: StepDetails }): void {
    this.#see(this.#stage.snapshot())
    this.#options = options
    this.#isBoundAnew = false
    this.#fingerprint = undefined
    this.#details = details
    const { execution, nodes, system } = this.#stage
    if (Math.min(system.delayMsMax, system.clockSkewMsMax) < Number.POSITIVE_INFINITY && !execution.isOver)
      for (const held of heldBackIn(this.#stage.moment())) execution.noteHeldBack(held)
    execution.evidence?.push(evidenceOf(nodes, { ...details, timers: this.#stage.timers() }))
  }

  /**
   * Some executions on new processes are repeated in place; but not one with a common time, which may be a run of an
   * hour.
   */
  #isCompared(beganInPlace: boolean, step: number): boolean {
    if (this.isRepeating) return true
    if (this.#recording.isOn || !this.#stage.isSearched) return false
    if (beganInPlace) return this.#auditTurns.nextInPlace(step)
    const { nodes, timing, execution } = this.#stage
    const isKept = nodes.some(node => node.isKept) || this.#startMarks.has(execution.variant)
    const mayBe = timing === undefined && isKept
    return mayBe && this.#auditTurns.nextAnew()
  }
}

/** Of a node alone no faults are counted: how many happen to all of them together is for the search to know. */
const unbounded = (faults: ResolvedSystem['faults']): ResolvedSystem['faults'] =>
  Object.fromEntries(
    Object.entries(faults).map(([kind, times]) => [kind, times > 0 ? Number.POSITIVE_INFINITY : 0]),
  ) as ResolvedSystem['faults']
