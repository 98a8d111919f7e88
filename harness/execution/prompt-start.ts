import { labelsOf } from '../../checker/system/labels.ts'
import type { Finding } from '../../checker/system/system.ts'
import type { Message } from '../../proxy/message.ts'
import { type Nanoseconds, second } from '../hold/clock/virtual-clock.ts'
import { sweepTimerfds } from '../hold/kernel-timers.ts'
import type { Node } from '../node/node.ts'
import { timerLabel } from './choices/timers.ts'
import { Conversations } from './conversations.ts'
import { hasCrashed, notReady } from './findings.ts'
import { begin, endedItself, goOn, keepStart, startCpuMsMax } from './node-start.ts'
import type { Stage } from './stage.ts'

/** The longest time that a start may take, on the clocks of nodes that sleep in it. */
const startMax = 60 * second
/** Messages and timers in a start. More would take minutes, and be no start but a service that goes round in a circle. */
const stepsMax = 10_000

/** A node that is idle, and has not opened its ports or is not healthy. */
interface Waiting {
  /** Whether anything has happened in it since its health was last checked. */
  isTouched: boolean
}

/**
 * The start of all nodes. One after another, each runs until its ports are open and its health check passes; a node
 * that only sleeps on its way is woken. A node that waits for others is left. From then on, until all are ready, the
 * network is prompt: messages arrive in the order in which they were sent. Time passes only when nothing is in flight,
 * to the timer that is due first. What happens so belongs to the start: no search chooses it.
 */
export class PromptStart {
  readonly #stage: Stage
  readonly #begun = new Set<Node>()
  readonly #waiting = new Map<Node, Waiting>()
  /** Labels of all messages in flight, in the order in which they were sent. */
  readonly #sent = new Set<string>()
  readonly #conversations = new Conversations()
  /** Time that has passed for all nodes since the first of them waited. */
  #now: Nanoseconds = 0
  /** What each node's clock showed at the beginning of that time. */
  readonly #offsets = new Map<Node, Nanoseconds>()

  constructor(stage: Stage) {
    this.#stage = stage
  }

  async run(): Promise<Finding[]> {
    for (;;) {
      const node = this.#next()
      if (node === undefined && this.#waiting.size === 0) return []
      const findings = node ? await this.#begin(node) : this.#passTime()
      findings.push(...(findings.length > 0 ? [] : await this.#deliverAll()))
      if (findings.length > 0) return findings
    }
  }

  /** The first node that was not begun, and may be. */
  #next(): Node | undefined {
    return this.#stage.nodes.find(
      node => !this.#begun.has(node) && node.after.every(name => this.#isReady(this.#stage.node(name))),
    )
  }

  #isReady(node: Node | undefined): boolean {
    // A played one is no node of the stage.
    return node === undefined || (this.#begun.has(node) && !this.#waiting.has(node))
  }

  async #begin(node: Node): Promise<Finding[]> {
    this.#begun.add(node)
    const findings = await this.#runAlone(node)
    this.#offsets.set(node, node.clock.elapsed - this.#now)
    return findings
  }

  /** Starts a node, and lets it sleep as long as it waits for nobody. A rewound node has ended its start. */
  async #runAlone(node: Node): Promise<Finding[]> {
    let findings = begin(this.#stage, node)
    while (findings.length === 0 && !node.isResumed && node.isAlive) {
      if (!node.readiness.isAwaited && (await this.#isHealthy(node))) return keepStart(this.#stage, node)
      this.#noteSent()
      if (this.#isInTouch(node) || !awaitsTime(node)) {
        this.#waiting.set(node, { isTouched: false })
        return []
      }
      node.held!.fireEarliest()
      findings = goOn(this.#stage, node)
    }
    return findings
  }

  /** Whether a node has asked somebody something, or is told something. Who asks for a port waits until it is open. */
  #isInTouch(node: Node): boolean {
    const { name } = node
    const messages = this.#network.messages.all()
    if (messages.some(({ from }) => from === name)) return true
    const toIt = messages.filter(({ to }) => to === name)
    if (toIt.length === 0) return false
    const open = node.readiness.openPorts()
    return toIt.some(({ kind, port }) => kind !== 'open' || open.includes(port))
  }

  get #network() {
    return this.#stage.execution.network
  }

  #noteSent(): void {
    this.#network.endStep()
    for (const message of this.#network.messages.all()) {
      if (this.#sent.has(message.label)) continue
      this.#sent.add(message.label)
      this.#conversations.see(message)
    }
  }

  /** Delivers what is in flight until nothing is, or no node waits any more. */
  async #deliverAll(): Promise<Finding[]> {
    while (this.#waiting.size > 0) {
      const message = this.#oldest()
      if (message === undefined && !(await this.#anyIsHealthy())) return []
      const findings = message ? this.#deliver(message) : []
      if (findings.length > 0) return findings
    }
    return []
  }

  #oldest(): Message | undefined {
    const names = new Set([...this.#begun].map(({ name }) => name))
    const byLabel = new Map(this.#network.messages.deliverable().map(message => [message.label, message]))
    for (const label of this.#sent) {
      const message = byLabel.get(label)
      if (message && names.has(message.to)) return message
    }
    return undefined
  }

  #deliver(message: Message): Finding[] {
    const node = this.#stage.node(message.to)
    this.#sent.delete(message.label)
    return this.#step(message.label, node, () => this.#network.messages.deliver(message))
  }

  /** Fires the timer that is due first. */
  #passTime(): Finding[] {
    const [first] = [...this.#begun]
      .flatMap(node => {
        const deadline = node.isAlive ? node.held!.earliestDeadline() : undefined
        return deadline === undefined ? [] : [{ node, deadline, due: deadline - this.#offsets.get(node)! }]
      })
      .sort((one, other) => one.due - other.due)
    if (first === undefined || first.due > startMax) return [this.#notReady()]
    const { node, deadline, due } = first
    return this.#step(timerLabel(node, deadline), node, () => {
      node.held!.fireEarliest()
      this.#now = Math.max(this.#now, due)
      for (const each of this.#begun) each.moveClockTo(this.#offsets.get(each)! + this.#now)
    })
  }

  #step(label: string, node: Node, act: () => void): Finding[] {
    const { started } = this.#stage.execution
    if (started.length >= stepsMax) return [this.#notReady()]
    started.push(label)
    act()
    const { findings, touched } = this.#stage.settle([node], startCpuMsMax)
    for (const each of touched) {
      if (findings.length === 0) findings.push(...this.#see(each))
      for (const process of each.held?.processes.values() ?? []) sweepTimerfds(process)
    }
    this.#noteSent()
    return findings
  }

  /** Looks at a node in which something has happened. */
  #see(node: Node): Finding[] {
    const waiting = this.#waiting.get(node)
    if (node.held?.exit !== undefined && (waiting !== undefined || hasCrashed(node))) {
      const findings = endedItself(node)
      if (findings.length > 0) return findings
    }
    if (waiting === undefined) return []
    waiting.isTouched = true
    if (!node.isAlive || (node.readiness.healthCheck === undefined && !node.readiness.isAwaited)) this.#end(node)
    return []
  }

  /** Its start is over. */
  #end(node: Node): void {
    this.#waiting.delete(node)
    if (node.held) node.held.isStarting = false
  }

  /** Whether a node that waited passes its health check. */
  async #anyIsHealthy(): Promise<boolean> {
    for (const [node, waiting] of this.#waiting) {
      if (!waiting.isTouched || node.readiness.isAwaited) continue
      waiting.isTouched = false
      if (!(await this.#isHealthy(node))) continue
      this.#end(node)
      return true
    }
    return false
  }

  async #isHealthy(node: Node): Promise<boolean> {
    if (node.readiness.healthCheck === undefined) return true
    const before = new Set(labelsOf(this.#network.messages.all()))
    const { clients } = this.#stage.execution
    const result = await clients.run(node, node.readiness.healthCheck, () => this.#settleInCheck(node, before))
    return result?.exitCode === 0
  }

  /**
   * Lets a node run while its health is checked. If the check waits, and has made the node send something, it waits for
   * other nodes: what is in flight is delivered. A program that computes, or waits for the CPU, may need none of it.
   *
   * @param before labels of what was in flight when the check began
   */
  #settleInCheck(node: Node, before: ReadonlySet<string>): Finding[] {
    const findings = this.#stage.settleAlive([node])
    if (findings.length > 0) return findings
    this.#noteSent()
    const { name } = node
    const asks = this.#network.messages
      .all()
      .some(({ from, to, label }) => (from === name || to === name) && !before.has(label))
    const message = asks && this.#stage.execution.clients.programsAreAsleep ? this.#oldest() : undefined
    return message ? this.#deliver(message) : []
  }

  /** The finding for the first node that waits for ever. */
  #notReady(): Finding {
    const [node] = this.#waiting.keys()
    return notReady(node!, this.#conversations.awaitedBy(node!.name))
  }
}

/** Whether it may still begin to listen when its clock moves on, within the time of a start. */
const awaitsTime = ({ held }: Node) => (held?.earliestDeadline() ?? Number.POSITIVE_INFINITY) <= startMax
