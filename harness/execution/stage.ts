import { Unfaithful, UsageError } from '../../checker/system/errors.ts'
import { staysAsItIs } from '../../checker/system/known-values.ts'
import { readLabel } from '../../checker/system/labels.ts'
import type { Finding } from '../../checker/system/system.ts'
import { parseAddress } from '../../linux/address.ts'
import type { ConnectionNames } from '../../proxy/end.ts'
import { Network, type NetworkMark, type Way } from '../../proxy/network.ts'
import { windowMax } from '../../proxy/tcp.ts'
import { Clients, type ClientsMark } from '../clients/clients.ts'
import { noNode, stateOfViews, viewOf } from '../clients/state.ts'
import { type VisitorListener, Visitors } from '../clients/visitors.ts'
import { meantAtFirst } from '../config/changing-names.ts'
import type { GlobalState, NodeView, ResolvedSystem } from '../config/config.ts'
import { observerName } from '../config/schema.ts'
import type { SharedDirectories } from '../files/shared-directories.ts'
import { millisecond, type Nanoseconds } from '../hold/clock/virtual-clock.ts'
import type { Unsettled } from '../hold/held/cpu-limit.ts'
import { watchUnanswered } from '../hold/rest/unanswered.ts'
import type { Node } from '../node/node.ts'
import type { Runner } from '../runner/runner.ts'
import { routersOf } from '../timed/routers.ts'
import { Time } from '../timed/time.ts'
import type { RunSoFar, Timing } from '../timed/timing.ts'
import { enabledOptions } from './choices/due.ts'
import type { Healthy } from './choices/healthy.ts'
import type { Moment } from './choices/moment.ts'
import { Execution, type ExecutionMark, type WayThere } from './execution.ts'
import { divergenceOf } from './findings.ts'
import { fingerprintOf, type Known, observedParts } from './fingerprint.ts'

const observerAddress = '10.77.255.254'

/** Pending timers of a node, in virtual time from now, the earliest first. */
export interface PendingTimers {
  readonly node: string
  readonly deadlinesMs: readonly number[]
}

/** The immediate result of an action: findings, and the nodes that may have done something. */
export interface Done {
  readonly findings: Finding[]
  readonly touched: readonly Node[]
}

/** The timers of a node at one time of its clock. */
interface PendingOfNode {
  readonly elapsed: Nanoseconds
  readonly deadlines: readonly Nanoseconds[]
  readonly timers: PendingTimers
}

/** The nodes of a system on one thread, which do one execution after another. */
export class Stage {
  readonly system: ResolvedSystem
  readonly nodes: readonly Node[]
  readonly runner: Runner
  /** Hosts on its network that the search plays. */
  readonly peers: readonly Pick<Node, 'name' | 'address'>[]
  readonly shared: SharedDirectories
  /** The present one. */
  execution: Execution
  /** Share of its usual bound that a node may now compute in a step before it counts as diverging. */
  patience = 1
  /** Present bound on a message's delay, ms of any node's clock; Infinity for none. */
  delayMsMax: number
  /** Present bound on how far clocks are apart, ms; Infinity for none. */
  skewMsMax: number
  /** In a system with a common time: what determines when things happen. */
  readonly timing: Timing | undefined
  /** What could not be held in any execution so far. */
  readonly notes = new Set<string>()
  /** The live run that executions from the start repeat. */
  soFar: RunSoFar | undefined
  /** Receives what nodes answer to visitors from outside, if somebody does. */
  outside: VisitorListener | undefined
  /** Longest history, in states, that a property has read; that many past states are part of the fingerprint. Views refer to it. */
  readonly #asked = { past: 0 }
  #known: ReadonlyMap<string, number> | undefined
  /** How each node was last seen. Most of many nodes do nothing in a step, and their views are used again. */
  readonly #seen = new WeakMap<
    Node,
    { readonly view: NodeView; readonly past: readonly unknown[]; readonly edition: string }
  >()
  /** The last snapshot. Most steps of a large system change nothing that is observed. */
  #snapshot: GlobalState | undefined
  /** The timers of each node, as they were last seen. */
  readonly #timers = new WeakMap<Node, PendingOfNode>()

  constructor(
    system: ResolvedSystem,
    nodes: readonly Node[],
    runner: Runner,
    { timing, peers = [], shared }: Pick<Stage, 'timing' | 'shared'> & Partial<Pick<Stage, 'peers'>>,
  ) {
    this.timing = timing
    this.peers = peers
    this.shared = shared
    this.system = system
    this.nodes = nodes
    this.runner = runner
    this.delayMsMax = system.delayMsMax
    this.skewMsMax = system.clockSkewMsMax
    this.execution = this.newExecution({ variant: 0, schedule: [] }, new Network())
  }

  /** Of nodes, by name and alias in small letters. */
  get #addresses(): ReadonlyMap<string, number> {
    this.#known ??= new Map(
      this.system.nodes.flatMap(({ name, aliases }, index) =>
        [name, ...aliases].map(each => [each.toLowerCase(), parseAddress(this.nodes[index]!.address)] as const),
      ),
    )
    return this.#known
  }

  /** @param mark of a network to continue */
  newNetwork(mark?: NetworkMark): Network {
    const { system, timing } = this
    const routers = timing && { routersBetween: routersOf(timing.wiring, this.#names) }
    const roomOf = (way: Way, names: ConnectionNames) =>
      Math.min(timing?.model === 1 ? this.execution.time!.roomOf(way, names) : windowMax, system.bufferBytesMax)
    return new Network(
      {
        ...{ dissector: system.dissectorOf, messageBytesMax: system.messageBytesMax },
        ...{ addressOf: (name: string) => this.#addresses.get(name), names: meantAtFirst(system), ...routers, roomOf },
      },
      mark,
    )
  }

  /** @param mark of the execution that this one continues */
  newExecution(way: WayThere, network: Network, mark?: ExecutionMark): Execution {
    const clients = this.#newClients(network, mark?.clients)
    const time = mark ? mark.time?.copy() : this.timing && new Time(this.timing, this.#names)
    return new Execution(this.system, way, { network, clients, time }, mark)
  }

  /** Names of all nodes of the system, in the order by which ways between them are numbered. */
  get #names(): string[] {
    return this.system.nodes.map(({ name }) => name)
  }

  /** Whether a search decides what happens, and not time. */
  get isSearched(): boolean {
    return this.timing === undefined || this.timing.isSearched === true
  }

  /** Ends the clients of the present execution. Its nodes stay where they are. */
  stopExecution(): void {
    this.execution.clients.close()
    this.runner.stopUnsettled()
  }

  /** Ends the present execution, with its clients and the nodes' processes. */
  endExecution(): void {
    this.stopExecution()
    for (const node of this.nodes) node.end()
  }

  /** Ends all processes. The next execution begins with new ones. */
  endLives(): void {
    this.execution.clients.close()
    // The kernel takes time to end the processes of a node. It ends those of all nodes at once.
    for (const node of this.nodes) node.killLives()
    for (const node of this.nodes) node.endLives()
  }

  /** Does something with new processes. None of their starts is kept, which would take a fifth of a start. */
  async keepingNothing<Result>(work: () => Promise<Result>): Promise<Result> {
    for (const node of this.nodes) node.isAnew = true
    try {
      return await work()
    } finally {
      for (const node of this.nodes) node.isAnew = false
    }
  }

  node(name: string): Node {
    return this.nodes.find(node => node.name === name)!
  }

  /** @throws UsageError if somebody asked for a node that does not exist */
  named(name: string): Node {
    const node = this.nodes.find(each => each.name === name)
    if (node) return node
    throw new UsageError(noNode(name, this.nodes))
  }

  /** Runs these nodes, and those that may notice by a shared directory what they do, until they have nothing left to do. */
  settle(those: readonly Node[], cpuMsMax = this.patience * this.system.stepCpuMsMax): Done {
    const nodes = this.#withSharers(those)
    const held = nodes.flatMap(node => (node.held && !node.isPaused ? [node.held] : []))
    const unsettled = this.runner.settle(this.execution.network, held, cpuMsMax)
    if (unsettled?.stuckSeconds !== undefined || unsettled?.waitedForClock) this.#failFor(unsettled)
    if (unsettled !== undefined)
      return { findings: [divergenceOf(this.node(unsettled.node.name), unsettled)], touched: nodes }
    return this.settleOthers({ findings: [], touched: nodes }, cpuMsMax)
  }

  #withSharers(nodes: readonly Node[]): readonly Node[] {
    if (this.shared.isEmpty) return nodes
    const others = this.nodes.filter(
      other =>
        other.isAlive && !nodes.includes(other) && nodes.some(({ name }) => this.shared.areTogether(name, other.name)),
    )
    this.tellTime(others)
    return [...nodes, ...others]
  }

  /** What nodes find in shared directories in the next step is an input of each. */
  rememberShared(): void {
    if (this.shared.isEmpty || this.system.fingerprint !== 'history') return
    const what = readLabel(`shared ${this.shared.hash()}`)
    for (const node of this.shared.nodes) this.execution.remember(node, what)
  }

  #failFor({ node: { name }, cpuMs = 0, stuckSeconds }: Unsettled): never {
    const { stepIndex, schedule } = this.execution
    const what =
      stuckSeconds === undefined
        ? `${name} was still busy after ${Math.round(cpuMs)} ms of CPU time, until its clock was set ahead: it may wait for the clock, which hardly moves within a step`
        : `${name} neither waited nor computed for ${Math.round(stuckSeconds)} s: other programs used the CPUs, or it waits for a device`
    throw new Unfaithful(stepIndex, schedule.at(-1) ?? 'the start', what)
  }

  /** After a node took what others had sent, lets those continue that had no room left to write. */
  settleOthers(done: Done, cpuMsMax?: number): Done {
    const others = this.nodes.filter(
      ({ name, isPaused }) => !isPaused && this.execution.network.kernels.isRestless(name),
    )
    if (done.findings.length > 0 || others.length === 0) return done
    this.tellTime(others)
    return this.settle([...new Set([...done.touched, ...others])], cpuMsMax)
  }

  /** Call at the end of a step: connections on which nothing gets through are given up some time. */
  watchUnanswered(): void {
    // A played host answers some time.
    if (this.peers.length > 0) return
    const unanswered = this.execution.network.faults.unanswered()
    const none: typeof unanswered = []
    for (const { name, held, isAlive } of this.nodes) {
      const own = unanswered.length === 0 ? none : unanswered.filter(({ node }) => node === name)
      if (held && isAlive) watchUnanswered(held, own)
    }
  }

  settleAlive(nodes = this.nodes): Finding[] {
    return this.settle(nodes.filter(node => node.isAlive)).findings
  }

  /** Sets these nodes' clocks to the present time, in a system with a common time. */
  tellTime(nodes: readonly Node[]): void {
    const { time } = this.execution
    if (time) for (const node of nodes) node.moveClockTo(time.clockOf(node.name))
  }

  /** Time on each node's clock since its start, in the order of the nodes. */
  clocks(): number[] {
    return this.nodes.map(({ clock }) => clock.elapsed)
  }

  /** How far some other clock went while a node was paused: its own will be as late. */
  passedInPauseOf({ name, pausedAt }: Node): Nanoseconds {
    const passed = this.nodes.map((other, index) => (other.name === name ? 0 : other.clock.elapsed - pausedAt![index]!))
    return Math.max(0, ...passed)
  }

  /** Moves clocks forward so that none is further behind the leading one than is allowed. */
  limitSkew(): void {
    if (this.execution.healthy) this.#goTogether(this.execution.healthy)
    if (this.skewMsMax === Number.POSITIVE_INFINITY) return
    const latest = Math.max(...this.clocks())
    for (const node of this.nodes) node.moveClockTo(latest - this.skewMsMax * millisecond)
  }

  /** Moves all clocks as far as that which has moved farthest since the network is healthy. */
  #goTogether({ base, elapsed: before }: Healthy): void {
    const elapsed = Math.max(before, ...this.clocks().map((now, index) => now - base[index]!))
    for (const [index, node] of this.nodes.entries()) node.moveClockTo(base[index]! + elapsed)
    this.execution.healthy = { base, elapsed }
  }

  timers(): PendingTimers[] {
    return this.nodes.map(node => this.#timersOf(node))
  }

  #timersOf(node: Node): PendingTimers {
    const { elapsed } = node.clock
    const pending: Iterable<{ readonly deadline: Nanoseconds }> = node.held?.timers ?? []
    const before = this.#timers.get(node)
    if (before?.elapsed === elapsed && areAt(pending, before.deadlines)) return before.timers
    const deadlines = Array.from(pending, ({ deadline }) => deadline)
    const deadlinesMs = deadlines.map(deadline => (deadline - elapsed) / millisecond).sort((one, other) => one - other)
    const timers = { node: node.name, deadlinesMs }
    this.#timers.set(node, { elapsed, deadlines, timers })
    return timers
  }

  /** Everything on which the present choices depend. */
  moment(): Moment {
    const { network, budget, clients, cutAt, healthy, delays, time, start } = this.execution
    return {
      system: this.system,
      nodes: this.nodes,
      network,
      deliverable: network.messages.deliverable(),
      budget,
      calls: clients.left,
      cutAt,
      healthy,
      areInputsLocal: !clients.isCalling && this.shared.isEmpty,
      callers: clients.calls.callers,
      delays,
      delayMsMax: this.delayMsMax,
      skewMsMax: this.skewMsMax,
      time,
      // A node alone knows nothing of others that are not ready.
      start: this.peers.length === 0 ? start : undefined,
    }
  }

  /** What the tool knows of the system, given its state. */
  known(state: GlobalState): Known {
    const { network, budget, clients } = this.execution
    const { observe, clockSkewMsMax } = this.system
    return {
      state,
      nodes: this.nodes,
      network,
      budget,
      calls: clients.left,
      past:
        this.pastAsked === 0
          ? undefined
          : this.nodes.map(({ name }) => clients.observer.pastOf(name).slice(0, this.pastAsked)),
      isObserved: observe !== undefined,
      shared: this.shared.isEmpty ? undefined : this.shared.hash(),
      waits: this.#waits(),
      isSkewLimited: clockSkewMsMax !== Number.POSITIVE_INFINITY,
    }
  }

  /** Longest history, in states, that a property has read so far. */
  get pastAsked(): number {
    return this.#asked.past
  }

  /** How long messages have been in flight, nodes were paused and the network was cut, if what follows depends on it. */
  #waits(): string | undefined {
    const { delays, cutAt } = this.execution
    const { delayMsMax, cutMsMin } = this.system
    const now = this.clocks()
    const waits = [
      ...(delayMsMax === Number.POSITIVE_INFINITY ? [] : [delays.outline(now)]),
      ...this.nodes.filter(({ isPaused }) => isPaused).map(node => `${node.name} ${this.passedInPauseOf(node)}`),
      ...(cutMsMin > 0 && cutAt ? [JSON.stringify(now.map((t, i) => t - cutAt[i]!))] : []),
    ]
    return waits.length === 0 ? undefined : waits.join(' ')
  }

  /** The present state: the object of the last one, if nothing of it has changed. */
  snapshot(): GlobalState {
    const { clients } = this.execution
    const [calls, history] = [clients.calls.shown(), clients.history]
    const views = this.nodes.map(node => this.#viewOf(node))
    const last = this.#snapshot
    if (last?.history === history && last.calls === calls && hasViews(last, views)) return last
    this.#snapshot = staysAsItIs(stateOfViews(views, calls, history))
    return this.#snapshot
  }

  /** What properties see of a state. */
  seen(state: GlobalState): GlobalState {
    const { outside } = this.system
    return outside.length === 0 ? state : staysAsItIs(stateOfViews(state.nodes, state.calls, state.history, outside))
  }

  #viewOf(node: Node): NodeView {
    const { observer } = this.execution.clients
    const past = observer.pastOf(node.name)
    const alive = node.isAlive
    const state = alive ? observer.stateOf(node.name) : undefined
    const edition = node.outputEdition
    const before = this.#seen.get(node)
    const isSame = before?.past === past && before.edition === edition
    if (isSame && before.view.alive === alive && before.view.state === state) return before.view
    const view = viewOf({ name: node.name, alive, state, output: node.output() }, countingAsked(past, this.#asked))
    this.#seen.set(node, { view, past, edition })
    return view
  }

  /** A summary of the present state as a search would see it. */
  outline(): string {
    const fingerprint = fingerprintOf(observedParts(this.known(this.snapshot())))
    const choices = enabledOptions(this.moment()).map(({ choice }) => choice.label)
    return JSON.stringify({ fingerprint, timers: this.timers(), choices })
  }

  #newClients(network: Network, mark?: ClientsMark): Clients {
    const host = network.attachments.virtualHost(observerName, observerAddress)
    const visitors = new Visitors(() => this.outside)
    return new Clients(host, this.nodes, this.system, { mark, visitors })
  }
}

const hasViews = ({ nodes }: GlobalState, views: readonly NodeView[]): boolean =>
  nodes.length === views.length && nodes.every((node, index) => node === views[index])

/**
 * Gives these earlier states, and notes how many were asked for. It must not refer to a stage: views are remembered for long, and a stage
 * has a network.
 */
const countingAsked = (past: readonly unknown[], asked: { past: number }) => (_: string, count: number) => {
  asked.past = Math.max(asked.past, count)
  return past
}

/** Whether timers have these deadlines. Asked for every node in each step, so nothing is made for it. */
const areAt = (timers: Iterable<{ readonly deadline: Nanoseconds }>, deadlines: readonly Nanoseconds[]): boolean => {
  let index = 0
  for (const { deadline } of timers) if (deadlines[index++] !== deadline) return false
  return index === deadlines.length
}
