import { Diverged, Unfaithful, UsageError } from '../checker/errors.ts'
import { labelsOf } from '../checker/labels.ts'
import type { Nodes } from '../checker/node-system.ts'
import type { Abstraction, Choice, Finding, Sight, Step, System } from '../checker/system.ts'
import { letGo } from './checkpoint/stopped.ts'
import { noNode } from './clients/state.ts'
import type { VisitorListener } from './clients/visitors.ts'
import type { ExecResult, GlobalState, ResolvedSystem } from './config.ts'
import { Alone, joinParts, type NodePart } from './execution/alone.ts'
import { AuditTurns, describeDifference, differencesOf, type Evidence, evidenceOf } from './execution/audit.ts'
import { carryOut, startedBy } from './execution/carry-out.ts'
import { messagesTaken, type Option } from './execution/choices.ts'
import { ClusterCheckpoint, reasonOf } from './execution/cluster-checkpoint.ts'
import { enabledOptions } from './execution/due.ts'
import { endStep, noDetails, type StepDetails } from './execution/end-step.ts'
import type { WayThere } from './execution/execution.ts'
import { faithfully } from './execution/faithful.ts'
import { fingerprintOf, historyParts, observedParts, type Part } from './execution/fingerprint.ts'
import type { RecordedCalls } from './execution/first-difference.ts'
import { ClusterMark, goBackTo, markCluster, whyNot } from './execution/mark.ts'
import { bringBack, saveInto } from './execution/save.ts'
import { type PendingTimer, Stage } from './execution/stage.ts'
import { startAll } from './execution/start.ts'
import { createRunDirectory, removeRunDirectory } from './files/run-directory.ts'
import { CallRecorder } from './hold/call-recorder.ts'
import { bytesRead } from './hold/disk-reads.ts'
import type { HeldNode } from './hold/held-node.ts'
import { unlessInterrupted } from './hold/interruption.ts'
import { millisecond } from './hold/virtual-clock.ts'
import { LocalRuntime } from './node/local-runtime.ts'
import { Node } from './node/node.ts'
import { plansOf } from './node/plans.ts'
import type { Engine } from './node/runtime.ts'
import { type CountedNotes, countUpTo, notBroughtBack, notMarked, sayNotes, uncounted } from './notes.ts'
import { regionsOf } from './rewind/regions.ts'
import { Runner } from './runner.ts'
import type { Time } from './timed/time.ts'
import type { TimedAction, Timing } from './timed/timing.ts'
import { noPackets, type PacketCounts } from './timed/ways.ts'

export type { StepDetails } from './execution/end-step.ts'

export interface ClusterOptions {
  /** Seed of the nodes' random numbers. A variant is an offset of the seed. */
  readonly seed?: number
  /** The CPU for all nodes; by default the one on which this thread now runs. */
  readonly cpu?: number | undefined
  /** Needed for nodes with an image. */
  readonly engine?: Engine | undefined
  /**
   * Whether ended processes are rewound to the end of their start or to a checkpoint and used again; true by default.
   * Otherwise every life begins with new processes, which costs ten times as much and reuses nothing.
   */
  readonly rewind?: boolean | undefined
  /** Makes time decide what happens. Without it, nothing takes time. */
  readonly timing?: Timing | undefined
  /**
   * Whether a thread may compute for five seconds, instead of half a second, before it is interrupted; false by
   * default.
   */
  readonly longTurns?: boolean | undefined
}

/**
 * Nodes that wait for the disk are started at most this many times for an execution. From the second time on, most of
 * their files are in memory.
 */
const startsMax = 3

/** At most this many reasons are reported for states that could not be marked. More would hide the other notes. */
const reasonsMax = 3

/** Real processes as a system under check: the nodes of a definition on one thread. */
export class Cluster implements System<GlobalState> {
  readonly #stage: Stage
  /** The stage of the node that was last executed alone. */
  #alone: Stage | undefined
  readonly #seed: number
  readonly #directory: string
  #isClosed = false
  #isRecording = false
  #isRewound: boolean
  readonly #auditTurns = new AuditTurns()
  /** Starts that were repeated because a node had waited for the disk. */
  #startsInVain = 0
  /** Whether its nodes read files that do not stay in memory. */
  #readsAlways = false
  /** By reason, how often a state could not be marked or restored in place. Only the first few reasons are kept. */
  readonly #whyNot = new Map<string, number>()
  #options: Option[] = []
  /** Whether the delay bound has changed since the present options were computed. */
  #isBoundAnew = false
  #state: GlobalState
  #details: StepDetails = noDetails

  constructor(
    system: ResolvedSystem,
    { seed = 0, cpu, engine, rewind = true, timing, longTurns }: ClusterOptions = {},
  ) {
    this.#isRewound = rewind
    this.#seed = seed
    this.#directory = createRunDirectory()
    const nodes = plansOf(system, this.#directory).map(
      plan =>
        new Node(
          plan,
          plan.definition.image === undefined ? new LocalRuntime(plan) : engineOf(engine).runtime(plan),
          rewind,
        ),
    )
    const runner = new Runner(cpu)
    if (longTurns) runner.lengthenTurns()
    this.#stage = new Stage(system, nodes, runner, timing)
    this.#state = this.#stage.snapshot()
  }

  /** Its nodes. Each can be executed alone, in turns with the whole system. */
  get nodes(): Nodes<GlobalState> {
    const { fingerprint } = this.#stage.system
    return {
      names: this.#nodes.map(({ name }) => name),
      abstraction: fingerprint === 'observed' ? 'observed' : 'history',
      alone: name => this.#aloneOf(this.#named(name)),
      join: parts => joinParts(parts as NodePart[]),
      viewOf: part => (part as NodePart).node,
    }
  }

  #aloneOf(node: Node): Alone {
    const { system, runner, nodes, timing } = this.#stage
    const stage = new Stage(
      system,
      [node],
      runner,
      timing,
      nodes.filter(other => other !== node),
    )
    return new Alone(stage, this.#seed, () => {
      this.#endExecution()
      this.#alone = stage
    })
  }

  #endExecution(): void {
    this.#alone?.endExecution()
    this.#alone = undefined
    this.#stage.endExecution()
  }

  get #nodes(): readonly Node[] {
    return this.#stage.nodes
  }

  get #runner(): Runner {
    return this.#stage.runner
  }

  /** Pending timers of each node, in virtual time from now, for a trace. */
  get timers(): PendingTimer[] {
    return this.#stage.timers()
  }

  /** Time on each node's virtual clock since its start, for a trace. */
  get clocks(): { node: string; elapsedMs: number }[] {
    return this.#nodes.map(({ name, clock }) => ({ node: name, elapsedMs: clock.elapsed / millisecond }))
  }

  /** Address of each node, by name. */
  get addresses(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#nodes.map(({ name, address }) => [name, address]))
  }

  /** The time of this execution, if it has a common time. */
  get time(): Time | undefined {
    return this.#stage.execution.time
  }

  /** The action of the last step, if it was planned or requested. */
  get happened(): TimedAction | undefined {
    return this.time?.happened
  }

  /** Counts of packets between nodes, if there is a common time. */
  get packets(): PacketCounts {
    return this.time?.counts ?? noPackets
  }

  /** Receives the nodes' answers to connections through published ports. */
  set outside(listener: VisitorListener) {
    this.#stage.outside = listener
  }

  /** Computes the enabled choices again after somebody requested something. */
  lookAgain(): void {
    this.#isBoundAnew = false
    if (!this.#stage.execution.isOver) this.#options = enabledOptions(this.#stage.moment())
  }

  /** What was sent and printed in the last step (or the start). */
  get details(): StepDetails {
    return this.#details
  }

  /** What could not be held or rewound since this cluster was made, one sentence each. */
  notes(): string[] {
    return sayNotes(this.countedNotes())
  }

  /** The same sentences, with how often each happened. */
  countedNotes(): CountedNotes {
    return new Map([
      ...[...this.#stage.notes].map(note => [note, uncounted] as const),
      ...this.#nodes.flatMap(({ name, reasonsToStart }) =>
        [...reasonsToStart].map(([reason, count]) => [notBroughtBack(name, reason), count] as const),
      ),
      ...[...this.#whyNot].map(([reason, count]) => [notMarked(reason), count] as const),
    ])
  }

  /** How many programs were started, without repeated starts. The fewer, the more lives were reused. */
  get starts(): number {
    return this.#nodes.reduce((sum, { starts }) => sum + starts, 0) - this.#startsInVain
  }

  /** Whether system calls are recorded, from the next start on. Recording makes executions ten times slower. */
  set isRecording(isRecording: boolean) {
    this.#isRecording = isRecording
    this.#runner.tracer.recorder = undefined
  }

  /** How often each system call was made in this execution, by number; empty if calls are not recorded. */
  get callCounts(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>()
    const records = (this.#runner.tracer.recorder?.steps ?? []).flatMap(step => [...step.values()].flat())
    for (const { number } of records) if (number !== undefined) counts.set(number, (counts.get(number) ?? 0) + 1)
    return counts
  }

  /** The system calls of this execution, and the nodes' present memory mappings. */
  get calls(): RecordedCalls {
    const mapped = this.#nodes.map(({ name, held }) => [name, held ? regionsOf(held.pid) : []] as const)
    return { steps: this.#runner.tracer.recorder?.steps ?? [], regions: new Map(mapped) }
  }

  /** @throws Unfaithful if the network was not faithful, or somebody else killed a node */
  reset(variant = 0): Promise<readonly Finding[]> {
    return faithfully(this.#stage, 'the start', () => this.#begin(variant))
  }

  enabled(): readonly Choice[] {
    if (this.#isBoundAnew) this.lookAgain()
    return this.#options.map(option => option.choice)
  }

  /** @throws Unfaithful if the network was not faithful, or somebody else killed a node */
  execute(choice: Choice): Promise<Step> {
    return faithfully(this.#stage, choice.label, () => this.#carryOut(choice))
  }

  async #begin(variant: number): Promise<readonly Finding[]> {
    const begun = performance.now()
    const findings = await this.#start(variant)
    this.#stage.execution.evidence = this.#isCompared() ? [] : undefined
    this.#arrive(await endStep(this.#stage, { findings, touched: this.#nodes }, [], begun))
    return findings
  }

  /**
   * Starts all nodes. If a node had to wait for the disk, its threads ran in another order than they will once its
   * files are in memory. Such a start cannot be compared with others or rewound to, so all nodes are started again.
   */
  async #start(variant: number): Promise<Finding[]> {
    for (let times = 1; ; times++) {
      this.#endExecution()
      if (this.#isRecording) this.#runner.tracer.recorder = new CallRecorder()
      const before = this.#nodes.map(({ starts }) => starts)
      const findings = await startAll(this.#stage, variant, this.#seed)
      const waited = this.#nodes.some(
        ({ starts, held }, index) => starts > before[index]! && held && bytesRead(held) > 0,
      )
      if (!waited || this.#readsAlways) return findings
      if (times === startsMax) {
        this.#readsAlways = true
        return findings
      }
      this.#startsInVain += this.#nodes.reduce((sum, { starts }, index) => sum + starts - before[index]!, 0)
      this.endLives()
    }
  }

  async #carryOut(choice: Choice): Promise<Step> {
    const begun = performance.now()
    const chosen = this.#options.find(option => option.choice.label === choice.label)
    if (chosen === undefined) throw new Error(`"${choice.label}" is not enabled`)
    const { action } = chosen
    const { execution } = this.#stage
    execution.schedule.push(choice.label)
    execution.delayMs = undefined
    this.#runner.tracer.recorder?.nextStep()
    execution.time?.begin(execution.stepIndex, chosen.choice.due)
    const started = startedBy(action)
    if (started !== undefined) await unlessInterrupted(this.#stage.node(started).prepare())
    const done = this.#stage.settleOthers(carryOut(this.#stage, chosen))
    this.#arrive(await endStep(this.#stage, done, messagesTaken(action), begun))
    return { choice: chosen.choice, findings: done.findings, delayMs: execution.delayMs }
  }

  #arrive({ options, details }: { options: Option[]; details: StepDetails }): void {
    this.#state = this.#stage.snapshot()
    this.#options = options
    this.#isBoundAnew = false
    this.#details = details
    this.#stage.execution.evidence?.push(evidenceOf(this.#nodes, { ...details, timers: this.timers }))
  }

  #isCompared(): boolean {
    if (this.#nodes.some(({ isAnew }) => isAnew)) return true
    return !this.#isRecording && this.#nodes.some(({ isResumed }) => isResumed) && this.#auditTurns.next()
  }

  async audit(): Promise<void> {
    const { way, evidence, evidenceFrom } = this.#stage.execution
    if (evidence === undefined || this.disturbance() !== undefined) return
    const again = await this.#evidenceAnew(way)
    if (again === undefined || this.disturbance() !== undefined) return
    for (const { node: name, ...found } of differencesOf(evidence, again.slice(evidenceFrom))) {
      const difference = { ...found, step: evidenceFrom + found.step }
      const node = this.#stage.node(name)
      node.close(this.#runner)
      node.stopRewinding()
      this.#stage.notes.add(`${name}: ${describeDifference(difference, way.schedule)}`)
    }
  }

  /** What an execution comes to on new processes, as far as it can be executed; undefined if that proves nothing. */
  async #evidenceAnew(way: WayThere): Promise<readonly Evidence[] | undefined> {
    for (const node of this.#nodes) node.isAnew = true
    try {
      // The bound of its last steps may not have applied to the first.
      this.setDelayMsMax(Number.POSITIVE_INFINITY)
      await this.#execute(way)
    } catch (error) {
      if (error instanceof Unfaithful) return undefined
      if (!(error instanceof Diverged)) throw error
    } finally {
      for (const node of this.#nodes) node.isAnew = false
    }
    return this.#stage.execution.evidence
  }

  disturbance(): string | undefined {
    const node = this.#nodes.find(({ held }) => held !== undefined && held.turnsCut > 0)
    const seconds = this.hasLongTurns ? 'five seconds' : 'half a second'
    return node && `${node.name} computed for ${seconds} without a wait, and had to let others go first`
  }

  nowMs(): number | undefined {
    const { timing } = this.#stage
    return timing === undefined || timing.isSearched ? undefined : this.time?.nowMs
  }

  setPatience(share: number): void {
    this.#stage.patience = share
  }

  sights(): readonly Sight[] {
    return this.#stage.execution.clients.sights()
  }

  setDelayMsMax(milliseconds: number): void {
    const before = this.#stage.delayMsMax
    this.#stage.delayMsMax = Math.min(milliseconds, this.#stage.system.delayMsMax)
    this.#isBoundAnew ||= this.#stage.delayMsMax !== before
  }

  state(): GlobalState {
    return this.#state
  }

  fingerprint(): string | undefined {
    switch (this.#stage.system.fingerprint) {
      case 'none':
        return undefined
      case 'history':
        return this.history()
      case 'observed':
        return fingerprintOf(observedParts(this.#stage.known(this.#state)))
    }
  }

  get abstraction(): Abstraction {
    return this.#stage.system.fingerprint === 'history' ? 'history' : 'observed'
  }

  history(): string {
    return fingerprintOf(historyParts(this.#stage.known(this.#state), this.#stage.execution.history))
  }

  parts(): Readonly<Record<string, string>> {
    return hashesOf(observedParts(this.#stage.known(this.#state)))
  }

  printed(): Readonly<Record<string, string>> {
    const name = (node: string, stream: string) => `what ${node} printed on ${stream}`
    return hashesOf(
      this.#details.outputs.map(({ node, stream, bytes }) => ({ name: name(node, stream), values: [bytes] })),
    )
  }

  /**
   * Saves the present quiescent state, which must be without a finding: its processes, if possible, otherwise its
   * schedule.
   *
   * @throws Diverged if processes were lost in saving, and the schedule now leads elsewhere
   */
  async save(): Promise<ClusterCheckpoint> {
    const { way, clients: calls, isOver } = this.#stage.execution
    const clients = calls.mark()
    if (isOver) return new ClusterCheckpoint(way, undefined, 'its execution has ended')
    if (clients === undefined) return new ClusterCheckpoint(way, undefined, 'a client is in the middle of a call')
    const outline = this.#stage.outline()
    const directory = createRunDirectory()
    try {
      return new ClusterCheckpoint(way, saveInto(directory, this.#stage, { clients, outline }), undefined)
    } catch (error) {
      removeRunDirectory(directory)
      const lacking = reasonOf(error)
      if (this.#stage.settleAlive().length > 0 || this.#stage.outline() !== outline) await this.#execute(way)
      return new ClusterCheckpoint(way, undefined, lacking)
    }
  }

  /**
   * Restores a saved state, of this cluster or another one of the same system, any number of times.
   *
   * @returns why the schedule was executed instead; undefined if it was not
   *
   * @throws Diverged if the schedule leads elsewhere
   */
  async goBack({ saved, way, lacking }: ClusterCheckpoint): Promise<string | undefined> {
    this.#endExecution()
    const reason = saved === undefined ? (lacking ?? 'it was discarded') : bringBack(this.#stage, saved, way)
    if (reason !== undefined) await this.#execute(way)
    else this.#arrive({ options: enabledOptions(this.#stage.moment()), details: noDetails })
    return reason
  }

  /** Marks the present state in place, quiescent and without a finding; `undefined` if that is not possible. */
  async mark(): Promise<ClusterMark | undefined> {
    // A checkpoint does not contain how much of a plan has happened.
    if (!this.#isRewound || this.time) return undefined
    const marked = await this.#mark()
    if (marked instanceof ClusterMark) return marked
    countUpTo(reasonsMax, this.#whyNot, marked)
    return undefined
  }

  async checkpoint(): Promise<ClusterMark | ClusterCheckpoint | undefined> {
    const marked = await this.mark()
    if (marked || !this.#isRewound || this.time) return marked
    const saved = await this.save()
    return saved.lacking === undefined ? saved : undefined
  }

  async restore(checkpoint: ClusterMark | ClusterCheckpoint): Promise<void> {
    if (checkpoint instanceof ClusterCheckpoint) {
      await this.goBack(checkpoint)
      return
    }
    const reason = goBackTo(this.#stage, checkpoint)
    if (reason === undefined) {
      this.#arrive({ options: enabledOptions(this.#stage.moment()), details: noDetails })
      const { execution } = this.#stage
      execution.evidenceFrom = execution.stepIndex + 1
      execution.evidence = this.#isCompared() ? [] : undefined
      return
    }
    countUpTo(reasonsMax, this.#whyNot, reason)
    await this.#execute(checkpoint.way)
  }

  /** Marks the present state in place, or returns why that is not possible. @throws Diverged like `save` */
  async #mark(): Promise<ClusterMark | string> {
    const { way, clients: calls, isOver } = this.#stage.execution
    const clients = calls.mark()
    if (isOver) return 'its execution has ended'
    if (clients === undefined) return 'a client is in the middle of a call'
    const outline = this.#stage.outline()
    try {
      return markCluster(this.#stage, clients, outline)
    } catch (error) {
      const reason = whyNot(error)
      if (this.#stage.settleAlive().length > 0 || this.#stage.outline() !== outline) await this.#execute(way)
      return reason
    }
  }

  async #execute({ variant, schedule }: WayThere): Promise<void> {
    await this.reset(variant)
    for (const [index, label] of schedule.entries()) {
      const choice = this.enabled().find(each => each.label === label)
      if (choice === undefined) throw new Diverged(index + 1, label, labelsOf(this.enabled()))
      await this.execute(choice)
    }
  }

  /** Runs a program inside a node, which continues meanwhile, because the program may ask it something. */
  async runInside(name: string, program: readonly string[]): Promise<ExecResult> {
    this.#alive(name)
    const { clients } = this.#stage.execution
    const result = await clients.run(this.#named(name), program, () => this.#stage.settleAlive())
    this.#options = enabledOptions(this.#stage.moment())
    if (result === undefined) throw new UsageError(`${program.join(' ')} has not ended in ${name} in time`)
    return result
  }

  /**
   * Lets all nodes run while somebody outside speaks with them. Afterwards no step can be executed, only a new start.
   */
  async goOnUntil(isDone: () => boolean): Promise<void> {
    await this.#stage.execution.clients.goOn(() => this.#stage.settleAlive(), isDone)
    this.#options = []
  }

  /**
   * Stops a node and detaches from it, so that a debugger can trace it. Taking it back ends it. Afterwards no step can
   * be executed, only a new start.
   */
  lend(name: string): { readonly pid: number; takeBack(): void } {
    const held = this.#alive(name)
    this.#options = []
    this.#runner.endKeptThreads(held)
    this.#runner.freeze(held)
    letGo(this.#runner.tracer, held)
    return { pid: held.pid, takeBack: () => this.#runner.tracer.abandon(held) }
  }

  /** Id of a node's first process on this machine. */
  pidOf(name: string): number {
    return this.#alive(name).pid
  }

  #alive(name: string): HeldNode {
    const { held, isAlive } = this.#named(name)
    if (!held || !isAlive) throw new UsageError(`${name} is down`)
    return held
  }

  #named(name: string): Node {
    const node = this.#nodes.find(each => each.name === name)
    if (node) return node
    throw new UsageError(noNode(name, this.#nodes))
  }

  /** Ends all processes. The next execution begins with new ones. */
  endLives(): void {
    this.#stage.execution.clients.close()
    for (const node of this.#nodes) node.close(this.#runner)
  }

  /** Whether lives are rewound in place. */
  get isRewound(): boolean {
    return this.#isRewound
  }

  /** From now on, every life begins with new processes. */
  stopRewinding(): boolean {
    const wasRewound = this.#isRewound
    this.#isRewound = false
    this.endLives()
    for (const node of this.#nodes) node.stopRewinding()
    return wasRewound
  }

  /** Whether turns are long: see `lengthenTurns`. */
  get hasLongTurns(): boolean {
    return this.#runner.hasLongTurns
  }

  lengthenTurns(): boolean {
    const wereShort = !this.hasLongTurns
    this.#runner.lengthenTurns()
    this.endLives()
    return wereShort
  }

  /** Ends all processes and removes all files. The cluster cannot be used afterwards. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.endLives()
    this.#runner.close()
    removeRunDirectory(this.#directory)
  }
}

/** A fingerprint of each part, by name. */
const hashesOf = (parts: readonly Part[]): Readonly<Record<string, string>> =>
  Object.fromEntries(parts.map(part => [part.name, fingerprintOf([part])]))

const engineOf = (engine: Engine | undefined): Engine => {
  if (engine === undefined) throw new Error('a node with an image needs an engine')
  return engine
}
