import { constants } from 'node:os'
import { dirname } from 'node:path'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { allow } from '../../linux/affinity.ts'
import { libc } from '../../linux/libc.ts'
import type { Network } from '../../proxy/network.ts'
import { runRoot } from '../files/run-root.ts'
import { seeMapped } from '../hold/calls/mapped-files.ts'
import { Pollers } from '../hold/calls/polls.ts'
import { watchSharedPorts } from '../hold/calls/shared-ports.ts'
import { watchSocketWaits } from '../hold/calls/socket-timeouts.ts'
import { CpuLimit, type Unsettled } from '../hold/held/cpu-limit.ts'
import type { HeldNode, HeldProcess, HeldThread } from '../hold/held/held-node.ts'
import { Usage } from '../hold/held/usage.ts'
import { Naps } from '../hold/naps.ts'
import { Quiescence } from '../hold/rest/quiescence.ts'
import { type Launched, sendSignal } from '../hold/start/launch.ts'
import { Tracer } from '../hold/tracer.ts'
import { heedSignals } from '../hold/turns/interruption.ts'
import { limitTurns, longTurnUsMax, Turns, turnUsMax } from '../hold/turns/turns.ts'
import { CannotRewind } from '../rewind/calls/error.ts'
import type { Facing } from '../rewind/connection.ts'
import type { InPlaceMark } from '../rewind/in-place-mark.ts'
import { InPlaceMarks } from '../rewind/in-place-marks.ts'

const schedGetcpu = libc.func('int sched_getcpu()')

/**
 * Runs the nodes of one system on one thread: polls its tracer and its network in turn. The thread and all processes
 * that it starts are pinned to one CPU, so that they take turns in the same order in every execution.
 */
export class Runner {
  readonly tracer = new Tracer()
  /** The CPU to which all are pinned. */
  readonly #cpu: number
  readonly #turns: Turns
  readonly #quiescence: Quiescence
  readonly #naps = new Naps(this.tracer)
  readonly #pollers = new Pollers()
  readonly #usage = new Usage(dirname(runRoot()))
  #turnUsMax = turnUsMax
  /** Nodes that did not become quiescent. */
  #unsettled: readonly HeldNode[] = []
  /** What lasts for much longer than until this time, by `performance.now()`, ends with `BudgetSpent`. */
  deadline = Number.POSITIVE_INFINITY
  /** Whether what waits to enter a node does so before its threads go on that gave way. */
  feedsFirst = false

  /** @param cpu by default the one on which this thread now runs */
  constructor(cpu: number = schedGetcpu()) {
    this.#cpu = cpu
    allow(0, [cpu])
    this.#turns = new Turns()
    this.#quiescence = new Quiescence(this.#turns)
  }

  /** Gives a node its network. */
  attach(node: { attach(network: Network): void }, network: Network): void {
    this.aside(() => node.attach(network))
  }

  /** Changes settings of networks. This thread must not take part in the nodes' turns meanwhile. */
  aside<Result>(work: () => Result): Result {
    return this.#turns.aside(work)
  }

  /** Takes hold of a launched process that waits to be released. */
  hold(node: HeldNode, launched: Launched): void {
    allow(launched.pid, [this.#cpu])
    node.turnUsMax = this.#turnUsMax
    this.tracer.hold(node, launched)
    this.#turns.add(launched.pid, node.turnUsMax)
  }

  /** Whether turns are long: see `lengthenTurns`. */
  get hasLongTurns(): boolean {
    return this.#turnUsMax === longTurnUsMax
  }

  /** From now on, a thread of a held node may compute longer before it is interrupted. */
  lengthenTurns(): void {
    this.#turnUsMax = longTurnUsMax
  }

  #limitTurns(node: HeldNode, usMax: number): void {
    if (!this.#turns.isOrdered || node.turnUsMax === usMax) return
    node.turnUsMax = usMax
    for (const pid of node.processes.keys()) limitTurns(pid, usMax)
  }

  /**
   * Lets threads run until none is ready, if turns are ordered. When this thread then sleeps, as in collections of
   * garbage, no node gets any further.
   *
   * @returns whether any ran at last: it may have woken others
   */
  #letRun(): boolean {
    if (this.tracer.stopped.letGo()) return true
    let ran = this.#turns.yield()
    for (let again = 1; ran && again < yieldsMax && this.#turns.isOrdered; again++) ran = this.#turns.yield()
    return ran
  }

  /** Lets everything happen that is ready in all nodes, or in these. Returns whether anything did. */
  #pump(network: Network, names?: readonly string[]): boolean {
    const stopped = this.tracer.poll()
    return network.kernels.pump(names) || stopped
  }

  /**
   * Runs until these nodes have nothing left to do without a new message or timer.
   *
   * @param cpuMsMax limit on the CPU time of a node
   *
   * @returns the node that exceeded it, or undefined if all are quiescent
   *
   * @throws BudgetSpent if a signal asks for the end, and all nodes must be killed then; or if the time is over
   */
  settle(network: Network, nodes: readonly HeldNode[], cpuMsMax: number): Unsettled | undefined {
    const names = nodes.map(({ name }) => name)
    const msMax = this.hasLongTurns ? Math.max(cpuMsMax, longStepMsMax) : cpuMsMax
    const setTurns = (node: HeldNode, ms: number) =>
      this.#limitTurns(node, Math.min(this.#turnUsMax, Math.ceil(1000 * ms)))
    const limit = new CpuLimit(nodes, msMax, setTurns)
    for (const node of nodes) {
      node.beginStep()
      setTurns(node, msMax)
    }
    for (;;) {
      heedSignals()
      if (performance.now() > this.deadline + overtimeMsMax) {
        this.#unsettled = nodes
        this.stopUnsettled()
        throw new BudgetSpent('time')
      }
      const ran = this.#feedsNow(network, nodes, names) || this.#letRun()
      if (!this.#pump(network, names)) {
        if (this.tracer.stopped.keepsAny || !this.#quiescence.reached(nodes, ran)) {
          if (!ran && !this.tracer.stopped.keepsAny) this.#turns.rest()
        } else if (
          !this.#feed(network, nodes, names) &&
          !this.#pump(network) &&
          !this.#naps.end(nodes) &&
          !this.#pollers.wake(nodes)
        ) {
          // So that a node is ended in the step in which it used too much.
          if (!this.#endExceeding(nodes, longMs)) break
        }
      }
      this.#endExceeding(nodes)
      const unsettled = limit.exceeding()
      if (unsettled) {
        this.#unsettled = [unsettled.node]
        return unsettled
      }
    }
    network.kernels.rest(names)
    for (const node of nodes) {
      node.endStep()
      seeMapped(node)
      watchSocketWaits(node)
      watchSharedPorts(node)
    }
    for (const node of nodes) if (this.tracer.stepper.end(node)) this.stopAndGoOn(node)
    this.tracer.spinners.restoreRanks()
    this.#turns.beCourteous()
    return limit.exceeded()
  }

  /** Gives these nodes what they wait for but for threads that gave way. Returns whether anything happened. */
  #feedsNow(network: Network, nodes: readonly HeldNode[], names: readonly string[]): boolean {
    if (!this.feedsFirst || !this.tracer.stopped.keepsLast) return false
    return this.#turns.yield() || this.#pump(network, names) || this.#feed(network, nodes, names)
  }

  /** Lets what waits enter these nodes. Returns whether anything did. */
  #feed(network: Network, nodes: readonly HeldNode[], names: readonly string[]): boolean {
    if (!network.kernels.feed(names)) return false
    for (const node of nodes) node.arrivals += 1
    return true
  }

  /** Ends a node that exceeds its limits; returns whether there was one. */
  #endExceeding(nodes: readonly HeldNode[], msMin?: number): boolean {
    const excess = this.#usage.exceeding(nodes, msMin)
    if (excess) this.tracer.endExceeding(excess.node, excess.what)
    return excess !== undefined
  }

  /**
   * Stops nodes that did not become quiescent: they would compute for a turn whenever this thread waits for another
   * node. Call it before nodes are ended or rewound.
   */
  stopUnsettled(): void {
    const nodes = this.#unsettled
    this.#unsettled = []
    for (const node of nodes) if (!node.frozen) this.tracer.stopped.freeze(node)
  }

  /** Stops every thread of a node. @throws CannotRewind if one neither stops nor ends */
  freeze(node: HeldNode): void {
    if (!node.frozen) this.tracer.stopped.freeze(node)
    this.#pollUntil(() => node.threads.every(thread => thread.resumption !== undefined), patienceMs)
  }

  /** Stops every thread of a node that is not frozen, so that it goes on in the usual way. Waits are entered again. */
  stopAndGoOn(node: HeldNode): void {
    if (node.frozen) return
    this.freeze(node)
    this.tracer.stopped.thaw(node)
  }

  /**
   * Marks a quiescent node.
   *
   * @param facing the counterparts of its connections; undefined if it may have none
   *
   * @throws CannotRewind; the node continues as before
   */
  mark(node: HeldNode, facing?: Facing): InPlaceMark {
    try {
      this.freeze(node)
      requireGoing(node)
      return InPlaceMarks.of(node).add(facing)
    } finally {
      this.tracer.stopped.thaw(node)
    }
  }

  /**
   * Rewinds a node to one of its marks, and leaves it frozen.
   *
   * @throws CannotRewind; the node must be killed then
   */
  rewind(node: HeldNode, mark: InPlaceMark): void {
    if (node.ended === undefined) this.freeze(node)
    requireGoing(node)
    this.#endProcesses(mark.newProcesses)
    mark.bringBack()
    this.#awaitEnds(mark.endNewThreads())
    mark.rewind((process, tid, origin) => this.tracer.threads.adoptThread(process, tid, origin))
  }

  /** @throws BudgetSpent if the time is over */
  checkTime(): void {
    if (performance.now() > this.deadline) throw new BudgetSpent('time')
  }

  /** Lets the threads of a node end that are kept just before their end. */
  endKeptThreads(node: HeldNode): void {
    this.#awaitEnds(node.keeper?.letThreadsEnd() ?? [])
  }

  /** Kills processes of a frozen node, which has others. */
  #endProcesses(ending: readonly HeldProcess[]): void {
    for (const { pid } of ending) sendSignal(pid, constants.signals.SIGKILL)
    this.#pollUntil(() => ending.every(({ pid, node }) => !node.processes.has(pid)), patienceMs)
  }

  #awaitEnds(ending: readonly HeldThread[]): void {
    this.#pollUntil(() => {
      // A thread that was asked to stop when it had already stopped does so once more before it ends.
      for (const thread of ending) if (thread.resumption) this.tracer.stopped.thawThread(thread)
      return ending.every(thread => !thread.process.threads.has(thread))
    }, patienceMs)
  }

  /** Runs until all processes of a killed node have ended. */
  awaitEnd(node: HeldNode): void {
    this.#pollUntil(() => node.processes.size === 0 && node.ended === undefined)
  }

  #pollUntil(isOver: () => boolean, msMax = Number.POSITIVE_INFINITY): void {
    const begun = performance.now()
    while (!isOver()) {
      if (msMax < Number.POSITIVE_INFINITY) heedSignals()
      const ran = this.#letRun()
      if (!this.tracer.poll() && !ran) this.#turns.rest()
      if (performance.now() - begun > msMax) throw new CannotRewind(`its threads neither stop nor end in ${msMax} ms`)
    }
  }

  close(): void {
    this.#turns.close()
  }
}

/** The kernel neither shows nor restores that a signal has stopped a process. @throws CannotRewind */
const requireGoing = (node: HeldNode): void => {
  if (node.threads.some(thread => thread.isStoppedBySignal)) throw new CannotRewind('a signal has stopped it')
}

/**
 * Minimum CPU time of a step with long turns, in milliseconds: several threads may each wait for what the next one
 * writes.
 */
const longStepMsMax = (4 * longTurnUsMax) / 1000
/** In a shorter time, nobody uses much memory, in milliseconds. */
const longMs = 5
/** Yield once for ready threads, then for the threads that they wake. More would favour programs on the same CPU. */
const yieldsMax = 4
/**
 * How long a step or start may last after the deadline, in milliseconds: most end by then, and the execution counts as
 * far as it got. With more, a search would overrun its time by more than anybody expects.
 */
const overtimeMsMax = 1000
/** Limit for threads to stop or end, in milliseconds. They usually do so within a turn or two. */
const patienceMs = 20_000
