import { join } from 'node:path'
import { Diverged, Unfaithful, UsageError } from '../checker/errors.ts'
import { labelsOf } from '../checker/labels.ts'
import type { Abstraction, Choice, Finding, Sight, Step, System } from '../checker/system.ts'
import type { Message } from '../proxy/message.ts'
import { Network } from '../proxy/network.ts'
import { Cell } from './cell.ts'
import { findCriu } from './checkpoint/criu.ts'
import { CannotCheckpoint } from './checkpoint/error.ts'
import { letGo } from './checkpoint/stopped.ts'
import { Clients, type ClientsMark } from './clients/clients.ts'
import { noNode, stateOf } from './clients/state.ts'
import { observerName } from './config/schema.ts'
import type { ExecResult, GlobalState, ResolvedSystem } from './config.ts'
import { type Action, type Input, messagesTaken, type Option, optionsOf } from './execution/choices.ts'
import { bytesIn, ClusterCheckpoint, reasonOf, type SavedCluster, type Way } from './execution/cluster-checkpoint.ts'
import { Delays } from './execution/delays.ts'
import {
  closedPortsOf,
  crashOf,
  divergenceOf,
  hasCrashed,
  isGone,
  unhealthyOf,
  wasKilled,
} from './execution/findings.ts'
import {
  fingerprintOf,
  historyParts,
  inputHash,
  type Known,
  observedParts,
  type Part,
} from './execution/fingerprint.ts'
import type { RecordedCalls } from './execution/first-difference.ts'
import { outputsOf } from './files/output.ts'
import { createRunDirectory, removeRunDirectory } from './files/run-directory.ts'
import { CallRecorder } from './hold/call-recorder.ts'
import type { HeldNode } from './hold/held-node.ts'
import { unlessInterrupted } from './hold/interruption.ts'
import { sweepTimerfds } from './hold/kernel-timers.ts'
import { millisecond, second } from './hold/virtual-clock.ts'
import { LocalRuntime } from './node/local-runtime.ts'
import { Node } from './node/node.ts'
import { plansOf } from './node/plans.ts'
import type { Engine } from './node/runtime.ts'
import { regionsOf } from './rewind/regions.ts'

/** What a step did beyond what a search has to know: for a trace. */
export interface StepDetails {
  readonly messages: readonly Message[]
  /** Labels of messages that are gone, though its choice took none of them. */
  readonly lost: readonly string[]
  readonly outputs: readonly { readonly node: string; readonly stream: 'stdout' | 'stderr'; readonly bytes: Buffer }[]
  readonly durationUs: number
}

export interface ClusterOptions {
  /** Of the nodes' randomness; a variant of it is the seed so many numbers further. */
  readonly seed?: number
  /** That all nodes are held on; the one that this thread runs on now, by default. */
  readonly cpu?: number | undefined
  /** For nodes with an image. */
  readonly engine?: Engine | undefined
  /**
   * Whether processes that are over are brought back to the end of their start, or to a checkpoint, and live again; true
   * by default. Else every life begins with new processes, which costs ten times as much and relies on nothing kept.
   */
  readonly rewind?: boolean | undefined
}

/** A start takes longer than a step: programs are loaded and compiled. */
const startCpuMsMax = 30_000
/** The most that a node may sleep, on its own clock, before it listens. */
const startMax = 60 * second
const observerAddress = '10.77.255.254'

/** Real processes as a system under check: the nodes of a definition on one cell. */
export class Cluster implements System<GlobalState> {
  readonly #system: ResolvedSystem
  readonly #seed: number
  readonly #cell: Cell
  readonly #directory: string
  readonly #nodes: readonly Node[]
  #network = new Network()
  #clients: Clients
  #budget = new Map<string, number>()
  #isCut = false
  #delays = new Delays()
  #delayMsMax = Number.POSITIVE_INFINITY
  /** Of the step that is being executed. */
  #delayMs: number | undefined
  #isOver = false
  #isClosed = false
  #isRecording = false
  #history = new Map<string, string>()
  /** What of the nodes could not be held, since this was made. */
  readonly #notes = new Set<string>()
  #options: Option[] = []
  #state: GlobalState
  #stepIndex = 0
  #variant = 0
  #patience = 1
  #isRewound: boolean
  /** Labels of what was executed since the last reset. */
  #schedule: string[] = []
  #seen = new Set<string>()
  #inFlight: readonly string[] = []
  #details: StepDetails = { messages: [], lost: [], outputs: [], durationUs: 0 }

  constructor(system: ResolvedSystem, { seed = 0, cpu, engine, rewind = true }: ClusterOptions = {}) {
    this.#system = system
    this.#isRewound = rewind
    this.#seed = seed
    this.#delayMsMax = system.delayMsMax
    this.#directory = createRunDirectory()
    this.#nodes = plansOf(system, this.#directory).map(
      plan =>
        new Node(
          plan,
          plan.definition.image === undefined ? new LocalRuntime(plan) : engineOf(engine).runtime(plan),
          rewind,
        ),
    )
    this.#cell = new Cell(cpu)
    this.#clients = this.#newClients()
    this.#state = this.#snapshot()
  }

  /** Pending timers of each node, in virtual time from now, for a trace. */
  get timers(): { node: string; deadlineMs: number }[] {
    return this.#nodes.flatMap(({ name, held, clock }) =>
      [...(held?.timers ?? [])]
        .map(timer => ({ node: name, deadlineMs: (timer.deadline - clock.elapsed) / 1_000_000 }))
        .sort((one, other) => one.deadlineMs - other.deadlineMs),
    )
  }

  /** How far each node's virtual clock is from its start, for a trace. */
  get clocks(): { node: string; elapsedMs: number }[] {
    return this.#nodes.map(({ name, clock }) => ({ node: name, elapsedMs: clock.elapsed / millisecond }))
  }

  /** The address of each node by its name. */
  get addresses(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#nodes.map(({ name, address }) => [name, address]))
  }

  /** What the last step (or the start) sent and wrote. */
  get details(): StepDetails {
    return this.#details
  }

  /** What of the nodes could not be held, since this cluster was made; a sentence each, with the node's name. */
  notes(): string[] {
    const started = this.#nodes.flatMap(({ name, reasonsToStart }) =>
      [...reasonsToStart].map(
        reason => `${name}: a life of it could not be brought back, and was started anew: ${reason}`,
      ),
    )
    return [...this.#notes, ...started]
  }

  /** How many programs were started: the fewer, the more lives were lived again. */
  get starts(): number {
    return this.#nodes.reduce((sum, { starts }) => sum + starts, 0)
  }

  /** From the next start on every system call is written down, or no longer. It costs ten times as much. */
  set isRecording(isRecording: boolean) {
    this.#isRecording = isRecording
    this.#cell.tracer.recorder = undefined
  }

  /** How often each system call was made in this execution, by its number; none where they were not written down. */
  get callCounts(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>()
    const records = (this.#cell.tracer.recorder?.steps ?? []).flatMap(step => [...step.values()].flat())
    for (const { number } of records) if (number !== undefined) counts.set(number, (counts.get(number) ?? 0) + 1)
    return counts
  }

  /** The system calls of this execution, with what the nodes have mapped now. */
  get calls(): RecordedCalls {
    const mapped = this.#nodes.map(({ name, held }) => [name, held ? regionsOf(held.pid) : []] as const)
    return { steps: this.#cell.tracer.recorder?.steps ?? [], regions: new Map(mapped) }
  }

  /** @throws Unfaithful where the network was not, or a node was killed by somebody else */
  reset(variant = 0): Promise<readonly Finding[]> {
    return this.#undisturbed('the start', () => this.#begin(variant))
  }

  enabled(): readonly Choice[] {
    return this.#options.map(option => option.choice)
  }

  /** @throws Unfaithful where the network was not, or a node was killed by somebody else */
  execute(choice: Choice): Promise<Step> {
    return this.#undisturbed(choice.label, () => this.#carryOut(choice))
  }

  async #begin(variant: number): Promise<readonly Finding[]> {
    const begun = performance.now()
    this.#clients.close()
    for (const node of this.#nodes) node.end(this.#cell)
    if (this.#isRecording) this.#cell.tracer.recorder = new CallRecorder()
    const { faults, overlap } = this.#system
    this.#budget = new Map(Object.entries({ ...faults, overlap }))
    this.#isCut = false
    this.#delays = new Delays()
    this.#isOver = false
    this.#history = new Map()
    this.#seen = new Set()
    this.#inFlight = []
    this.#stepIndex = 0
    this.#variant = variant
    this.#schedule = []
    this.#network = new Network({ dissector: this.#system.dissectorOf })
    for (const node of this.#nodes) node.renew(this.#seed + variant)
    await unlessInterrupted(Promise.all(this.#nodes.map(node => node.prepare())))
    for (const node of this.#nodes) this.#cell.attach(node, this.#network)
    this.#clients = this.#newClients()
    const findings: Finding[] = []
    for (const node of this.#nodes) findings.push(...(await this.#startFirst(node)))
    await this.#endStep(findings, this.#nodes, [], begun)
    return findings
  }

  async #carryOut(choice: Choice): Promise<Step> {
    const begun = performance.now()
    const chosen = this.#options.find(option => option.choice.label === choice.label)
    if (chosen === undefined) throw new Error(`"${choice.label}" is not enabled`)
    this.#stepIndex += 1
    this.#schedule.push(choice.label)
    this.#delayMs = undefined
    this.#cell.tracer.recorder?.nextStep()
    if (startsNode(chosen.action)) await unlessInterrupted(this.#node(chosen.action.node).prepare())
    const { findings, touched } = this.#settleOthers(this.#do(chosen))
    await this.#endStep(findings, touched, messagesTaken(chosen.action), begun)
    return { choice: chosen.choice, findings, delayMs: this.#delayMs }
  }

  disturbance(): string | undefined {
    const node = this.#nodes.find(({ held }) => held !== undefined && held.turnsCut > 0)
    return node && `${node.name} computed for half a second without a wait, and had to let others go first`
  }

  setPatience(share: number): void {
    this.#patience = share
  }

  sights(): readonly Sight[] {
    return this.#clients.sights()
  }

  setDelayMsMax(milliseconds: number): void {
    this.#delayMsMax = Math.min(milliseconds, this.#system.delayMsMax)
  }

  state(): GlobalState {
    return this.#state
  }

  fingerprint(): string | undefined {
    switch (this.#system.fingerprint) {
      case 'none':
        return undefined
      case 'history':
        return this.history()
      case 'observed':
        return fingerprintOf(observedParts(this.#known()))
    }
  }

  get abstraction(): Abstraction {
    return this.#system.fingerprint === 'history' ? 'history' : 'observed'
  }

  history(): string {
    return fingerprintOf(historyParts(this.#known(), this.#history))
  }

  parts(): Readonly<Record<string, string>> {
    return hashesOf(observedParts(this.#known()))
  }

  printed(): Readonly<Record<string, string>> {
    const name = (node: string, stream: string) => `what ${node} printed on ${stream}`
    return hashesOf(
      this.#details.outputs.map(({ node, stream, bytes }) => ({ name: name(node, stream), values: [bytes] })),
    )
  }

  /**
   * Saves the present state, quiescent and without a finding: its processes, where that is possible; else the schedule
   * that leads to it.
   *
   * @throws Diverged where processes were lost by it, and the way to the present state leads elsewhere now
   */
  async save(): Promise<ClusterCheckpoint> {
    const way = { variant: this.#variant, schedule: [...this.#schedule] }
    const clients = this.#clients.mark()
    if (this.#isOver) return new ClusterCheckpoint(way, undefined, 'its execution has ended')
    if (clients === undefined) return new ClusterCheckpoint(way, undefined, 'a client is in the middle of a call')
    const outline = this.#outline()
    const directory = createRunDirectory()
    try {
      return new ClusterCheckpoint(way, this.#save(directory, clients, outline), undefined)
    } catch (error) {
      removeRunDirectory(directory)
      const lacking = reasonOf(error)
      if (this.#settleAlive(this.#nodes).length > 0 || this.#outline() !== outline) await this.#execute(way)
      return new ClusterCheckpoint(way, undefined, lacking)
    }
  }

  /**
   * Brings back what was saved, by this cluster or by another of the same system, any number of times.
   *
   * @returns why the way there was executed again; undefined where it was not
   * @throws Diverged where that leads elsewhere
   */
  async goBack({ saved, way, lacking }: ClusterCheckpoint): Promise<string | undefined> {
    const reason = saved === undefined ? (lacking ?? 'it was discarded') : this.#restore(saved)
    if (reason !== undefined) await this.#execute(way)
    else this.#arrive(way)
    return reason
  }

  async checkpoint(): Promise<ClusterCheckpoint | undefined> {
    if (!this.#isRewound) return undefined
    const saved = await this.save()
    return saved.lacking === undefined ? saved : undefined
  }

  async restore(checkpoint: ClusterCheckpoint): Promise<void> {
    await this.goBack(checkpoint)
  }

  #arrive({ variant, schedule }: Way): void {
    this.#variant = variant
    this.#schedule = [...schedule]
    this.#stepIndex = schedule.length
    this.#state = this.#snapshot()
    this.#options = optionsOf(this.#moment())
    this.#inFlight = labelsOf(this.#network.inFlight())
    this.#details = { messages: [], lost: [], outputs: [], durationUs: 0 }
  }

  /** @param outline of the present state. @throws CannotCheckpoint, SystemError, CannotMark */
  #save(directory: string, clients: ClientsMark, outline: string): SavedCluster {
    const criu = findCriu()
    const nodes = this.#nodes.map(node => node.save(criu, this.#cell, join(directory, node.name)))
    const findings = this.#settleAlive(this.#nodes)
    if (findings.length > 0) throw new CannotCheckpoint(findings[0]!.message)
    if (this.#outline() !== outline) throw new CannotCheckpoint('it does not stand still')
    return {
      directory,
      bytes: bytesIn(directory),
      nodes,
      clients,
      network: this.#network.mark(),
      budget: [...this.#budget],
      isCut: this.#isCut,
      delays: this.#delays.mark(),
      history: [...this.#history],
      known: [...this.#seen],
      outline,
    }
  }

  /** Gives why it was not possible. */
  #restore(saved: SavedCluster): string | undefined {
    this.#clients.close()
    for (const node of this.#nodes) node.end(this.#cell)
    try {
      this.#makeAgain(saved)
      const findings = this.#settleAlive(this.#nodes)
      if (findings.length > 0) throw new CannotCheckpoint(findings[0]!.message)
      this.#network.endStep()
      const outline = this.#outline()
      if (outline !== saved.outline) throw new CannotCheckpoint(`it is another now: ${saved.outline}, then ${outline}`)
      return undefined
    } catch (error) {
      return reasonOf(error)
    }
  }

  #makeAgain(saved: SavedCluster): void {
    const criu = findCriu()
    this.#budget = new Map(saved.budget)
    this.#isCut = saved.isCut
    this.#delays = new Delays(saved.delays)
    this.#isOver = false
    this.#history = new Map(saved.history)
    this.#seen = new Set(saved.known)
    this.#network = new Network({ dissector: this.#system.dissectorOf }, saved.network)
    for (const [index, node] of this.#nodes.entries())
      node.restore(saved.nodes[index]!, criu, this.#cell, this.#network)
    this.#network.goOn()
    this.#clients = this.#newClients(saved.clients)
    for (const { held } of this.#nodes) if (held) this.#cell.tracer.thaw(held)
  }

  async #execute({ variant, schedule }: Way): Promise<void> {
    await this.reset(variant)
    for (const [index, label] of schedule.entries()) {
      const choice = this.enabled().find(each => each.label === label)
      if (choice === undefined) throw new Diverged(index + 1, label, labelsOf(this.enabled()))
      await this.execute(choice)
    }
  }

  /** Runs a program inside a node, which goes on meanwhile: it may be what the program asks. */
  async runInside(name: string, program: readonly string[]): Promise<ExecResult> {
    this.#alive(name)
    const result = await this.#clients.run(this.#named(name), program, () => this.#settleAlive(this.#nodes))
    this.#options = optionsOf(this.#moment())
    if (result === undefined) throw new UsageError(`${program.join(' ')} has not ended in ${name} in time`)
    return result
  }

  /** Lets all nodes go on while somebody outside speaks with them. No step can be executed afterwards, but a new start. */
  async goOnUntil(isDone: () => boolean): Promise<void> {
    await this.#clients.goOn(() => this.#settleAlive(this.#nodes), isDone)
    this.#options = []
  }

  /**
   * Stops a node, and lets go of it, so that a debugger can trace it, until it is taken back, which ends it. No step can
   * be executed afterwards, but a new start.
   */
  lend(name: string): { readonly pid: number; takeBack(): void } {
    const held = this.#alive(name)
    this.#options = []
    this.#cell.endKeptThreads(held)
    this.#cell.freeze(held)
    letGo(this.#cell.tracer, held)
    return { pid: held.pid, takeBack: () => this.#cell.tracer.abandon(held) }
  }

  /** Id of a node's first process, on this machine. */
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

  /** Ends all processes: the next execution begins with new ones. */
  endLives(): void {
    this.#clients.close()
    for (const node of this.#nodes) node.close(this.#cell)
  }

  /** Whether lives are brought back in place. */
  get isRewound(): boolean {
    return this.#isRewound
  }

  /** From now on every life begins with new processes, and nothing is brought back. */
  stopRewinding(): void {
    this.#isRewound = false
    this.endLives()
    for (const node of this.#nodes) node.stopRewinding()
  }

  /** Ends all processes and removes all files. The cluster cannot be used afterwards. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.endLives()
    this.#cell.close()
    removeRunDirectory(this.#directory)
  }

  #newClients(mark?: ClientsMark): Clients {
    const host = this.#network.virtualHost(observerName, observerAddress)
    return new Clients(this.#cell, host, this.#nodes, this.#system, mark)
  }

  /** Says of the present state what a search would see of it. */
  #outline(): string {
    const fingerprint = fingerprintOf(observedParts(this.#known(this.#snapshot())))
    const choices = optionsOf(this.#moment()).map(({ choice }) => choice.label)
    return JSON.stringify({ fingerprint, timers: this.timers, choices })
  }

  #node(name: string): Node {
    return this.#nodes.find(node => node.name === name)!
  }

  #do({ choice, action }: Option): Done {
    this.#spend(choice)
    switch (action.do) {
      case 'inputs':
        return this.#enter(this.#node(action.node), action.inputs, choice.label)
      case 'client':
        this.#clients.call(action.client, this.#stepIndex)
        return { findings: [], touched: this.#nodes }
      case 'drop':
        this.#network.drop(action.message)
        return { findings: [], touched: [] }
      case 'duplicate':
        this.#network.duplicate(action.message)
        return { findings: [], touched: [] }
      case 'disconnect':
        this.#network.resetConnection(action.connection)
        for (const node of [action.connection.opener, action.connection.listener]) this.#remember(node, choice.label)
        return this.#settle([this.#node(action.connection.opener), this.#node(action.connection.listener)])
      case 'kill':
        this.#remember(action.node, choice.label)
        return this.#kill(action)
      case 'restart':
        this.#remember(action.node, choice.label)
        return this.#restart(this.#node(action.node))
      case 'cut':
        this.#network.cut(action.ways)
        this.#isCut = true
        return { findings: [], touched: [] }
      case 'heal':
        this.#network.heal()
        this.#isCut = false
        return { findings: [], touched: [] }
    }
  }

  #spend({ kind }: Choice): void {
    const left = this.#budget.get(kind)
    if (left !== undefined) this.#budget.set(kind, left - 1)
  }

  /** Takes note of what a node was given, or what befell it. */
  #remember(node: string, label: string, inputs: readonly Input[] = []): void {
    this.#history.set(node, inputHash(this.#history.get(node), label, inputs))
  }

  /** Several inputs enter while the node is stopped, so that it finds them all when it goes on. */
  #enter(node: Node, inputs: readonly Input[], label: string): Done {
    const held = node.held!
    this.#remember(node.name, label, inputs)
    const isOverlap = inputs.length > 1
    // A timer that comes first fires before the node is stopped: its wait must end by time.
    if (isOverlap) this.#cell.freeze(held)
    for (const input of inputs) {
      if ('deliver' in input) this.#network.deliver(input.deliver)
      else this.#fire(node)
    }
    this.#limitSkew()
    if (isOverlap) this.#cell.tracer.thaw(held)
    return this.#settle([node])
  }

  #clocks(): number[] {
    return this.#nodes.map(({ clock }) => clock.elapsed)
  }

  #fire(node: Node): void {
    const held = node.held!
    const deadline = held.earliestDeadline()
    const delay = deadline === undefined ? 0 : this.#delays.at(this.#nodes.indexOf(node), deadline)
    if (delay > 0) this.#delayMs = Math.max(this.#delayMs ?? 0, Math.ceil(delay / millisecond))
    held.fireEarliest()
  }

  /** No clock stays further behind the one that is most ahead than the configuration allows. */
  #limitSkew(): void {
    const latest = Math.max(...this.#nodes.map(node => node.clock.elapsed))
    for (const node of this.#nodes) node.moveClockTo(latest - this.#system.clockSkewMsMax * millisecond)
  }

  #kill(action: Extract<Action, { do: 'kill' }>): Done {
    const node = this.#node(action.node)
    node.kill(this.#cell, action.peersSee)
    return action.restart ? this.#restart(node) : { findings: [], touched: [node] }
  }

  #restart(node: Node): Done {
    this.#limitSkew()
    this.#cell.attach(node, this.#network)
    return { findings: this.#startAgain(node), touched: [node] }
  }

  /**
   * The first start in an execution is over when the node has opened its ports and is healthy. What was brought back to
   * the end of its start is.
   */
  async #startFirst(node: Node): Promise<Finding[]> {
    node.start(this.#cell)
    for (;;) {
      const findings = this.#comeUp(node)
      if (findings.length > 0 || node.isResumed || !node.isAlive) return findings
      const closed = node.closedPorts()
      if (closed.length === 0 && (await this.#isHealthy(node))) return this.#keepStart(node)
      if (!awaitsTime(node)) return [closed.length > 0 ? closedPortsOf(node, closed) : unhealthyOf(node)]
      // It sleeps on its way.
      node.held!.fireEarliest()
    }
  }

  #startAgain(node: Node): Finding[] {
    node.start(this.#cell)
    const findings = this.#comeUp(node)
    return findings.length > 0 || !node.isAlive ? findings : this.#keepStart(node)
  }

  #comeUp(node: Node): Finding[] {
    const { findings } = this.#settle([node], startCpuMsMax)
    if (findings.length > 0) return findings
    return node.held?.exit === undefined ? [] : this.#ended(node)
  }

  /** What it comes to that a node has ended by itself. */
  #ended(node: Node): Finding[] {
    if (node.exits === 'crash') return [crashOf(node)]
    if (node.exits === 'restart') node.kill(this.#cell, 'reset')
    return []
  }

  #keepStart(node: Node): Finding[] {
    return node.keepStart(this.#cell) ? this.#settle([node]).findings : []
  }

  async #isHealthy(node: Node): Promise<boolean> {
    if (node.healthCheck === undefined) return true
    const result = await this.#clients.run(node, node.healthCheck, () => this.#settleAlive([node]))
    return result?.exitCode === 0
  }

  #settle(nodes: readonly Node[], cpuMsMax = this.#patience * this.#system.stepCpuMsMax): Done {
    const held = nodes.flatMap(node => (node.held ? [node.held] : []))
    const unsettled = this.#cell.settle(this.#network, held, cpuMsMax)
    if (unsettled !== undefined)
      return { findings: [divergenceOf(this.#node(unsettled.node.name), unsettled)], touched: nodes }
    return this.#settleOthers({ findings: [], touched: nodes }, cpuMsMax)
  }

  /** Where one took what others had sent, those go on who had no more room to write. */
  #settleOthers(done: Done, cpuMsMax?: number): Done {
    const others = this.#nodes.filter(({ name }) => this.#network.isRestless(name))
    if (done.findings.length > 0 || others.length === 0) return done
    return this.#settle([...new Set([...done.touched, ...others])], cpuMsMax)
  }

  async #endStep(
    findings: Finding[],
    reached: readonly Node[],
    taken: readonly Message[],
    begun: number,
  ): Promise<void> {
    let touched = reached
    if (findings.length === 0) {
      const attended = await this.#clients.attend(() => this.#settleAlive(this.#nodes), this.#stepIndex)
      findings.push(...attended.findings)
      if (attended.hasPassed) {
        touched = this.#nodes
        // A client may have spoken to any node, between the inputs that it had.
        for (const { name } of this.#nodes) this.#remember(name, `clients ${this.#schedule.at(-1) ?? ''}`)
      }
    }
    this.#network.endStep()
    const outputs = touched.flatMap(node => outputsOf(node))
    for (const { name, held } of touched) for (const note of held?.notes ?? []) this.#notes.add(`${name}: ${note}`)
    if (this.#network.ignored().forMany > 0)
      this.#notes.add('broadcast and multicast are not carried: nobody got what was sent so')
    if (findings.length === 0) findings.push(...touched.filter(hasCrashed).flatMap(node => this.#ended(node)))
    for (const node of touched) for (const process of node.held?.processes.values() ?? []) sweepTimerfds(process)
    this.#isOver ||= findings.length > 0
    if (!this.#isOver) await this.#clients.observe(touched, () => this.#settleAlive(touched))
    this.#state = this.#snapshot()
    const moment = this.#moment()
    this.#delays.endStep(moment.deliverable, () => this.#clocks())
    this.#options = this.#isOver ? [] : optionsOf(moment)
    const inFlight = this.#network.inFlight()
    this.#details = {
      messages: this.#newMessages(inFlight),
      lost: this.#lostMessages(labelsOf(inFlight), labelsOf(taken)),
      outputs,
      durationUs: Math.round((performance.now() - begun) * 1000),
    }
  }

  /**
   * @throws Unfaithful where packets were lost or damaged between a node and the network, or somebody else killed a node:
   *   what they did is not what they would have done
   */
  async #undisturbed<Result>(label: string, work: () => Promise<Result>): Promise<Result> {
    const fail = (what: string): never => {
      throw new Unfaithful(this.#stepIndex, label, what)
    }
    const result = await work().catch(error => {
      const gone = this.#nodes.find(isGone)
      return gone ? fail(`${gone.name} was killed by somebody else`) : Promise.reject(error)
    })
    const killed = this.#nodes.find(wasKilled)
    if (killed) fail(`${killed.name} was killed by somebody else`)
    const { gaps, corrupt } = this.#network.anomalies()
    // What was sent again, by a node's kernel or to it, came after all.
    const odd = Object.entries({ gaps, corrupt }).filter(([, count]) => count > 0)
    if (odd.length > 0)
      fail(`the network was not faithful (${odd.map(([name, count]) => `${name}: ${count}`).join(', ')})`)
    return result
  }

  #settleAlive(nodes: readonly Node[]): Finding[] {
    return this.#settle(nodes.filter(node => node.isAlive)).findings
  }

  #newMessages(inFlight: readonly Message[]): Message[] {
    return inFlight.filter(message => {
      const isNew = !this.#seen.has(message.label)
      this.#seen.add(message.label)
      return isNew
    })
  }

  /** To be asked once a step: it compares with the step before. */
  #lostMessages(inFlight: readonly string[], taken: readonly string[]): string[] {
    const accounted = new Set([...inFlight, ...taken])
    const lost = this.#inFlight.filter(label => !accounted.has(label))
    this.#inFlight = inFlight
    return lost
  }

  #moment() {
    return {
      system: this.#system,
      nodes: this.#nodes,
      network: this.#network,
      deliverable: this.#network.deliverable(),
      budget: this.#budget,
      calls: this.#clients.left,
      isCut: this.#isCut,
      isCalling: this.#clients.isCalling,
      delays: this.#delays,
      delayMsMax: this.#delayMsMax,
    }
  }

  #known(state = this.#state): Known {
    return {
      state,
      nodes: this.#nodes,
      network: this.#network,
      budget: this.#budget,
      calls: this.#clients.left,
      isObserved: this.#system.observe !== undefined,
      waits: this.#system.delayMsMax === Number.POSITIVE_INFINITY ? undefined : this.#delays.outline(this.#clocks()),
      isSkewLimited: this.#system.clockSkewMsMax !== Number.POSITIVE_INFINITY,
    }
  }

  #snapshot(): GlobalState {
    const nodes = this.#nodes.map(node => ({
      name: node.name,
      alive: node.isAlive,
      state: node.isAlive ? this.#clients.stateOf(node) : undefined,
      output: node.output(),
    }))
    return stateOf(
      nodes,
      this.#clients.calls.map(call => ({ ...call })),
      this.#clients.history,
    )
  }
}

/** What came of a choice's action. */
interface Done {
  readonly findings: Finding[]
  readonly touched: readonly Node[]
}

/** One fingerprint for each part, by its name. */
const hashesOf = (parts: readonly Part[]): Readonly<Record<string, string>> =>
  Object.fromEntries(parts.map(part => [part.name, fingerprintOf([part])]))

const startsNode = (action: Action): action is Extract<Action, { do: 'kill' | 'restart' }> =>
  action.do === 'restart' || (action.do === 'kill' && action.restart)

const engineOf = (engine: Engine | undefined): Engine => {
  if (engine === undefined) throw new Error('a node with an image needs an engine')
  return engine
}

/** Whether it may yet listen when its clock moves on, within what a start may take. */
const awaitsTime = ({ held }: Node) => (held?.earliestDeadline() ?? Number.POSITIVE_INFINITY) <= startMax
