import { join } from 'node:path'
import type { Nodes } from '../checker/system/node-system.ts'
import type { Processes } from '../checker/system/processes.ts'
import type { Abstraction, Choice, Finding, Sight, Step, System } from '../checker/system/system.ts'
import { clocksStartUnsaid } from '../checker/trace/again.ts'
import { situationOf } from './clients/situation.ts'
import type { GlobalState, NodeView, ResolvedSystem } from './config/config.ts'
import {
  type CountedNotes,
  notKept,
  notMarked,
  notRewound,
  notRewoundSharing,
  sayNotes,
  uncounted,
} from './config/notes.ts'
import { joinParts, type NodePart } from './execution/alone.ts'
import { auditLast } from './execution/audit-last.ts'
import { Beside } from './execution/beside.ts'
import { StageMarks } from './execution/checkpoints.ts'
import type { ClusterCheckpoint } from './execution/cluster-checkpoint.ts'
import { Debugging } from './execution/debugging.ts'
import { Driver } from './execution/driver.ts'
import type { StepDetails } from './execution/end-step.ts'
import { disturbanceOf } from './execution/findings.ts'
import { fingerprintOf, historyParts, observedParts, type Part } from './execution/fingerprint.ts'
import type { ClusterMark } from './execution/mark.ts'
import { Recording } from './execution/recording.ts'
import { type PendingTimers, Stage } from './execution/stage.ts'
import { createRunDirectory, removeRunDirectory } from './files/run-directory.ts'
import { SharedDirectories } from './files/shared-directories.ts'
import { millisecond } from './hold/clock/virtual-clock.ts'
import { type StepFaultKind, stepFaultKinds } from './hold/held/step-faults.ts'
import { LocalRuntime } from './node/local-runtime.ts'
import { Node } from './node/node.ts'
import { plansOf } from './node/plans.ts'
import type { Engine } from './node/runtime.ts'
import { Runner } from './runner/runner.ts'
import { Running } from './running.ts'
import type { Timing } from './timed/timing.ts'

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
  /** What nodes' clocks show first, as an ISO date and time; by default as in traces that do not say it. */
  readonly clocksStart?: string | undefined
}

/** Real processes as a system under check: the nodes of a definition on one thread. */
export class Cluster implements System<GlobalState>, Processes {
  readonly #stage: Stage
  readonly #driver: Driver
  readonly #seed: number
  readonly #directory: string
  #isClosed = false
  #isRewound: boolean
  /** Its system calls, if they are recorded. */
  readonly recording: Recording
  /** Saves states and returns to them. */
  readonly checkpoints: StageMarks
  /** For a debugger, between two steps. */
  readonly debugging: Debugging
  /** For a run in a common time. */
  readonly running: Running

  constructor(
    system: ResolvedSystem,
    { seed = 0, cpu, engine, rewind = true, timing, longTurns, clocksStart = clocksStartUnsaid }: ClusterOptions = {},
  ) {
    this.#directory = createRunDirectory()
    const shared = new SharedDirectories(join(this.#directory, 'shared'), system.nodes)
    this.#isRewound = rewind && shared.isEmpty
    this.#seed = seed
    const planned = plansOf(system, this.#directory, shared, { isPaced: timing?.model === 1 }).map(plan => ({
      plan,
      runtime: plan.definition.image === undefined ? new LocalRuntime(plan) : engineOf(engine).runtime(plan),
    }))
    const runner = new Runner(cpu)
    if (longTurns) runner.lengthenTurns()
    const options = {
      isRewound: this.#isRewound,
      clocksStart: Date.parse(clocksStart) / 1000,
      diskModel: system.diskModel,
      mayStrike: mayStrikeIn(system, timing),
    }
    const nodes = planned.map(({ plan, runtime }) => new Node(plan, runtime, runner, options))
    this.#stage = new Stage(system, nodes, runner, { timing, shared })
    if (rewind && !shared.isEmpty) this.#stage.notes.add(notRewoundSharing(shared.nodes))
    this.recording = new Recording(this.#stage)
    this.#driver = new Driver(this.#stage, seed, this.recording)
    this.checkpoints = new StageMarks(this.#stage, this.#driver)
    this.debugging = new Debugging(this.#stage, this.#driver)
    this.running = new Running(this.#stage, this.#driver)
  }

  /** Its nodes. Each can be executed alone, in turns with the whole system. */
  get nodes(): Nodes<GlobalState> {
    return this.#nodesBy(this.#stage.system)
  }

  /** The same for a search. Of nodes that share directories, what one does follows not only from its own inputs. */
  get nodesToSearch(): Nodes<GlobalState> | undefined {
    return this.#stage.shared.isEmpty ? this.nodes : undefined
  }

  /**
   * The same beside a run that is not searched itself: what may happen from a mark of it, with the faults of this system. The
   * run goes on once that mark is restored.
   */
  nodesBeside(system: ResolvedSystem): Nodes<GlobalState> {
    return this.#nodesBy(system, system)
  }

  /** All of it together, the same way. */
  beside(system: ResolvedSystem): Beside {
    return new Beside(this.#stage, this.#driver, system, this.#seed)
  }

  #nodesBy({ fingerprint, faults, overlap, outside }: ResolvedSystem, searched?: ResolvedSystem): Nodes<GlobalState> {
    return {
      faults,
      overlaps: overlap,
      names: this.#nodes.map(({ name }) => name),
      abstraction: fingerprint === 'observed' ? 'observed' : 'history',
      alone: name => this.#driver.aloneOf(this.#stage.named(name), searched),
      startTogether: variant => this.#driver.startTogether(variant),
      join: parts => joinParts(parts as NodePart[], outside),
      viewOf: part => (part as NodePart).node,
    }
  }

  get #nodes(): readonly Node[] {
    return this.#stage.nodes
  }

  get #runner(): Runner {
    return this.#stage.runner
  }

  /** Pending timers of each node, for a trace. */
  get timers(): PendingTimers[] {
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

  /** TCP ports on which each node listens, by name. */
  get listening(): Readonly<Record<string, readonly number[]>> {
    return Object.fromEntries(this.#nodes.map(node => [node.name, node.readiness.openPorts()]))
  }

  /** What was sent and printed in the last step (or the start). */
  get details(): StepDetails {
    return this.#driver.details
  }

  /** What could not be held or rewound since this cluster was made, one sentence each. */
  notes(): string[] {
    return sayNotes(this.countedNotes())
  }

  /** The sentences of `notes`, with how often each happened. */
  countedNotes(): CountedNotes {
    return new Map([
      ...[...this.#stage.notes].map(note => [note, uncounted] as const),
      ...this.#nodes.flatMap(({ name, reasonsToStart }) =>
        [...reasonsToStart].map(([reason, count]) => [notRewound(name, reason), count] as const),
      ),
      ...[...this.checkpoints.reasons].map(([reason, count]) => [notMarked(reason), count] as const),
      ...[...this.#driver.whyNotKept].map(([reason, count]) => [notKept(reason), count] as const),
    ])
  }

  /** How many programs were started, without repeated starts. The fewer, the more lives were reused. */
  get starts(): number {
    return this.#nodes.reduce((sum, { starts }) => sum + starts, 0) - this.#driver.startsInVain
  }

  /** @throws Unfaithful if the network was not faithful, or somebody else killed a node */
  reset(variant = 0): Promise<readonly Finding[]> {
    return this.#driver.reset(variant)
  }

  enabled(): readonly Choice[] {
    return this.#driver.enabled()
  }

  /** @throws Unfaithful if the network was not faithful, or somebody else killed a node */
  execute(choice: Choice): Promise<Step> {
    return this.#driver.execute(choice)
  }

  get processes(): Processes {
    return this
  }

  endBy(time: number): void {
    this.#runner.deadline = time
  }

  async audit(): Promise<void> {
    if (await auditLast(this.#stage, this.#driver)) this.stopRewinding()
  }

  disturbance(): string | undefined {
    return disturbanceOf(this.#stage)
  }

  nowMs(): number | undefined {
    return this.#stage.isSearched ? undefined : this.running.time?.nowMs
  }

  setPatience(share: number): void {
    this.#stage.patience = share
  }

  down(): readonly string[] {
    return this.#nodes.filter(({ isAlive }) => !isAlive).map(({ name }) => name)
  }

  isCalling(): boolean {
    return this.#stage.execution.clients.isCalling
  }

  healthyMs(): number | undefined {
    const { healthy } = this.#stage.execution
    return healthy && healthy.elapsed / millisecond
  }

  sights(): readonly Sight[] {
    const { clients, heldBack } = this.#stage.execution
    return [...clients.sights(), ...heldBack.values()]
  }

  situation(): string {
    return situationOf(this.#driver.state)
  }

  setDelayMsMax(milliseconds: number): void {
    this.#driver.setDelayMsMax(milliseconds)
  }

  setSkewMsMax(milliseconds: number): void {
    this.#driver.setSkewMsMax(milliseconds)
  }

  state(): GlobalState {
    return this.#driver.seen
  }

  /** All nodes, also those outside of the system. */
  get views(): readonly NodeView[] {
    return this.#driver.state.nodes
  }

  fingerprint(): string | undefined {
    switch (this.#stage.system.fingerprint) {
      case 'none':
        return undefined
      case 'history':
        return this.history()
      case 'observed':
        return this.#driver.fingerprint()
    }
  }

  get abstraction(): Abstraction {
    return this.#stage.system.fingerprint === 'history' ? 'history' : 'observed'
  }

  history(): string {
    return fingerprintOf(historyParts(this.#stage.known(this.#driver.state), this.#stage.execution.history))
  }

  parts(): Readonly<Record<string, string>> {
    return hashesOf(observedParts(this.#stage.known(this.#driver.state)))
  }

  printed(): Readonly<Record<string, string>> {
    const name = (node: string, stream: string) => `what ${node} printed on ${stream}`
    return hashesOf(
      this.details.outputs.map(({ node, stream, bytes }) => ({ name: name(node, stream), values: [bytes] })),
    )
  }

  /** Marks the present state in place, quiescent and without a finding; `undefined` if that is not possible. */
  async mark(): Promise<ClusterMark | undefined> {
    return this.#isWorthKeeping ? this.checkpoints.mark() : undefined
  }

  async checkpoint(mayHaveFiles = true): Promise<ClusterMark | ClusterCheckpoint | undefined> {
    if (!mayHaveFiles) return this.mark()
    return this.#isWorthKeeping ? this.checkpoints.take() : undefined
  }

  /** If its execution was disturbed, another one may lead elsewhere. From a mark nobody would ever see that. */
  get #isWorthKeeping(): boolean {
    return this.#isRewound && this.disturbance() === undefined
  }

  restore(checkpoint: ClusterMark | ClusterCheckpoint): Promise<void> {
    return this.checkpoints.restore(checkpoint)
  }

  /** Ends all processes. The next execution begins with new ones. */
  endLives(): void {
    this.#stage.endLives()
  }

  /** Does something with new processes, of whose starts nothing is kept: for what begins there only once. */
  keepingNothing<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#stage.keepingNothing(work)
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
    // Last, because a program that is started meanwhile would have to close their networks too, and wait for each.
    for (const node of this.#nodes) node.close()
  }
}

/** A fingerprint of each part, by name. */
const hashesOf = (parts: readonly Part[]): Readonly<Record<string, string>> =>
  Object.fromEntries(parts.map(part => [part.name, fingerprintOf([part])]))

const engineOf = (engine: Engine | undefined): Engine => {
  if (engine === undefined) throw new Error('a node with an image needs an engine')
  return engine
}

/** The faults that may strike nodes in the middle of a step: by a budget, or because a plan or a person asked for one. */
const mayStrikeIn = (
  { strikes, diskModel }: ResolvedSystem,
  timing: Timing | undefined,
): ReadonlySet<StepFaultKind> => {
  const planned = [...(timing?.events ?? []), ...(timing?.inputs ?? [])].map(({ does }) => does)
  const asked = new Set<string>([...strikes, ...planned])
  const mayStrike = (kind: StepFaultKind) => {
    if (kind === 'power') return diskModel !== undefined
    // No node is stopped for it. In a check, each part is a choice of its own.
    return kind === 'split' ? timing !== undefined : asked.has(kind)
  }
  return new Set(stepFaultKinds.filter(mayStrike))
}
