import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Operation } from '../../checker/history/operation.ts'
import { beginCall, endCall } from '../../checker/system/guest.ts'
import { messageOf } from '../../checker/system/show.ts'
import type { Finding, Sight } from '../../checker/system/system.ts'
import type { SplitPlace } from '../../proxy/borders.ts'
import type { VirtualHost } from '../../proxy/virtual-host.ts'
import { ConfigError, type ExecResult, type ResolvedSystem } from '../config/config.ts'
import type { Node } from '../node/node.ts'
import { toJson } from './as-json.ts'
import { Calls, hasFailed, type KnownCall } from './calls.ts'
import { OutsideConnections } from './connections.ts'
import { execMsMax, Handles, type NamedHandles } from './handles.ts'
import { History } from './history.ts'
import { type ObserverMark, observerOwner, StateObserver } from './observer.ts'
import { Programs } from './programs.ts'
import { callSights, operationSights } from './sights.ts'
import type { VisitorMark, Visitors } from './visitors.ts'

/**
 * Once something reached a client, or it began a call, it counts as done after this many turns of the event loop in
 * which all nodes were idle. With fewer, a slow one would be cut off; with more, such steps take longer.
 */
const quietTurns = 4
/** Real time after which an observer, or a program run inside a node, is given up, in milliseconds. */
const patienceMs = 20_000
/** The event loop turns at least this often: signals to the tool, and its timers, are handled there. */
const turnEveryMs = 5

/**
 * Failures in one execution after which a client that calls until it has returned gives up. Without a limit, some
 * executions would have no end.
 */
const againMax = 100

/** Name under which programs run in a node are recorded as calls. */
export const execOf = (node: string): string => `exec ${node}`

/** The clients' state while none of them is in a call. Plain data. */
export interface ClientsMark extends ObserverMark {
  readonly calls: readonly KnownCall[]
  readonly left: readonly (readonly [name: string, times: number])[]
  readonly history: readonly Operation[]
  readonly udpPort: number
  /** Absent in checkpoints without any. */
  readonly visitors?: readonly VisitorMark[]
}

/** Everyone who speaks to the nodes from outside: the clients, whose calls are choices, and the observer of states. */
export class Clients {
  readonly #system: ResolvedSystem
  readonly #nodes: readonly Node[]
  readonly #connections: OutsideConnections
  readonly #programs: Programs
  readonly #handles: Handles
  readonly calls: Calls
  readonly #history: History
  readonly observer: StateObserver
  /** Connections through published ports. */
  readonly visitors: Visitors
  /** How often each client may still call. */
  readonly left: Map<string, number>
  /** Whether a client or observer may have left something running. Then the event loop turns in each step. */
  #mayBeRunning: boolean
  #turnedAt = performance.now()
  /** What had passed between clients and nodes when both were last quiet. Undefined while a call is beginning. */
  #quietAt: string | undefined
  #ended: readonly KnownCall[] = []

  /** @param mark of clients to continue */
  constructor(
    host: VirtualHost,
    nodes: readonly Node[],
    system: ResolvedSystem,
    { mark, visitors }: { readonly mark?: ClientsMark | undefined; readonly visitors: Visitors },
  ) {
    this.visitors = visitors
    this.#mayBeRunning = mark !== undefined
    this.#nodes = nodes
    this.#system = system
    this.left = new Map(mark?.left ?? system.clients.map(({ name, times }) => [name, times]))
    this.#history = new History(mark?.history)
    this.calls = new Calls(mark?.calls)
    const idle = visitors.resume(mark?.visitors ?? [], host.streams())
    this.#connections = new OutsideConnections(host, nodes, idle, mark?.udpPort)
    for (const socket of visitors.sockets) this.#connections.keep(socket)
    this.#programs = new Programs()
    this.#handles = new Handles(nodes, this.#connections, this.#programs)
    this.observer = new StateObserver(system.observe, this.#handles, mark)
  }

  /** Whether a call is in progress, or somebody from outside is connected. */
  get isCalling(): boolean {
    return this.visitors.isOpen || this.calls.areInProgress
  }

  get history(): readonly Operation[] {
    return this.#history.operations
  }

  /** The results of calls and operations, and which nodes were seen to have a state. */
  sights(): Sight[] {
    const calls = this.#system.clients.flatMap(({ name }) => callSights(this.calls.of(name), name))
    return [...calls, ...operationSights(this.history), ...this.observer.sights()]
  }

  /**
   * Their present state; undefined if a client is in a call or left a connection open, because such a client cannot be
   * restored.
   */
  mark(): ClientsMark | undefined {
    if (this.calls.areInProgress || this.#programs.areRunning) return undefined
    const visitors = this.visitors.mark()
    if (visitors === undefined || this.#connections.areInUse(socket => this.visitors.has(socket))) return undefined
    return {
      visitors,
      calls: this.calls.mark(),
      left: [...this.left],
      history: this.#history.operations,
      ...this.observer.mark(),
      udpPort: this.#connections.udpPort,
    }
  }

  close(): void {
    this.visitors.close()
    this.#connections.close()
  }

  /** Connects somebody from outside to a node. */
  visit(visitor: number, node: Node, port: number): void {
    this.visitors.connect(visitor, () => this.#connections.open(node, port))
  }

  /**
   * Begins a call, which continues by itself as its answers arrive. A client that uses an unknown node has made a
   * mistake; that is not a failed call.
   *
   * @param splitsAt where all that is written until a call ends arrives in two parts
   */
  call(name: string, step: number, splitsAt?: SplitPlace): void {
    this.#connections.splitsAt = splitsAt
    const client = this.#system.clients.find(each => each.name === name)!
    this.left.set(name, this.left.get(name)! - 1)
    const ordinal = 1 + this.calls.of(name).length
    const operation = this.#history.performerOf(name)
    this.#begin(name, ordinal, step, handles => client.run(handles, { ordinal, operation }))
  }

  /**
   * Runs a program in a node for somebody from outside. If it takes too long, that is not a mistake of the
   * configuration.
   */
  exec(name: string, command: readonly string[], step: number): void {
    const node = this.#nodes.find(each => each.name === name)!
    const client = execOf(name)
    const ordinal = 1 + this.calls.of(client).length
    this.#begin(client, ordinal, step, async () => {
      const result = await this.#programs.run(node, command, execMsMax)
      if (result) return result
      throw new Error(`"${command.join(' ')}" has not ended in ${name} after ${execMsMax / 1000} s`)
    })
  }

  #begin(name: string, ordinal: number, step: number, begin: (handles: NamedHandles) => Promise<unknown>): void {
    this.#mayBeRunning = true
    this.#quietAt = undefined
    const { settle, answer } = this.calls.begin(name, ordinal, step)
    const who = `clients.${name}`
    const run = async () => begin(this.#handles.of(who, answer))
    beginCall(who)
    const ended = run()
    endCall()
    ended
      .then(value => {
        toJson(who, value)
        settle({ value })
      })
      .catch(error => {
        if (error instanceof ConfigError) this.#handles.note(error)
        settle({ error: messageOf(error) })
      })
  }

  /**
   * Lets the clients continue until neither they nor the nodes have anything left to do. If anything passed between
   * them, any node may have changed.
   */
  async attend(settle: () => Finding[], step: number): Promise<{ findings: Finding[]; hasPassed: boolean }> {
    this.#ended = []
    const before = this.isCalling ? this.#connections.activity() : undefined
    this.#mayBeRunning ||= before !== undefined
    if (this.#mayBeRunning || performance.now() - this.#turnedAt > turnEveryMs) await this.#turnOf(this.#lastCaller)
    this.#handles.requireNoMistake()
    if (before === undefined) return { findings: [], hasPassed: false }
    const findings = await this.#settleTurns(settle)
    this.#handles.requireNoMistake()
    this.#ended = this.calls.endStep(step)
    for (const call of this.#ended) this.#mayCallAgain(call)
    if (this.#ended.length > 0) this.#connections.splitsAt = undefined
    this.#history.endStep(step)
    return { findings, hasPassed: this.#connections.activity() !== before }
  }

  /** The calls that ended in the last step. */
  get ended(): readonly KnownCall[] {
    return this.#ended
  }

  /** A call that failed does not count for a client that calls until it has returned. */
  #mayCallAgain(call: KnownCall): void {
    const client = this.#system.clients.find(({ name }) => name === call.client)
    if (client?.until === undefined || !hasFailed(call)) return
    if (this.calls.of(client.name).filter(hasFailed).length <= againMax)
      this.left.set(client.name, this.left.get(client.name)! + 1)
  }

  /** Observes the states of these nodes. */
  async observe(nodes: readonly Node[], settle: () => Finding[]): Promise<void> {
    const pending = this.observer.look(nodes)
    if (pending.length === 0) return
    this.#mayBeRunning = true
    const findings = await this.#settleUntil(settle, () => pending.every(({ isOver }) => isOver))
    // A node that ended while it was observed could not answer. Its end is what matters.
    const alive = pending.filter(({ node }) => node.isAlive)
    for (const { node, seen } of alive.filter(({ isDone }) => isDone)) this.observer.see(node, await seen)
    this.#handles.requireNoMistake()
    const late = alive.filter(({ isDone }) => !isDone)
    if (late.length === 0 || findings.length > 0) return
    const names = late.map(({ node }) => node.name).join(', ')
    throw new ConfigError([
      `state: expected the observer of ${names} to end, found it waiting after ${patienceMs / 1000} s`,
    ])
  }

  /** Runs a program in a node, which continues meanwhile; `undefined` if the program does not end in time. */
  async run(node: Node, program: readonly string[], settle: () => Finding[]): Promise<ExecResult | undefined> {
    let result: ExecResult | undefined
    const end = this.#programs.run(node, program, patienceMs).then(ended => {
      result = ended
    })
    let failed: unknown
    end.catch(error => {
      failed = error
    })
    await this.#settleUntil(settle, () => result !== undefined || failed !== undefined)
    if (failed !== undefined) throw failed
    return result
  }

  /** Whether programs that run in nodes all wait for something. */
  get programsAreAsleep(): boolean {
    return this.#programs.areAsleep
  }

  /** Lets the nodes run until somebody outside is done with them. */
  async goOn(settle: () => Finding[], isDone: () => boolean): Promise<void> {
    while (!isDone() && settle().length === 0) await sleep(1)
  }

  /** Whether something may have happened between clients and nodes since they were last quiet. */
  get #areActive(): boolean {
    return this.#connections.activity() !== this.#quietAt || this.#programs.areRunning
  }

  /** Turns the event loop and runs the nodes until both are quiet. In most steps nothing reaches a client: they are. */
  async #settleTurns(settle: () => Finding[]): Promise<Finding[]> {
    if (!this.#areActive) return []
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      if (this.#areActive) {
        const findings = settle()
        if (findings.length > 0) return findings
        this.#quietAt = this.#connections.activity()
        quiet = 0
      }
      await this.#turn(this.#lastCaller)
    }
    return []
  }

  /** Lets nodes and clients go on until `isDone`, or until that takes too long. Then nodes are told of closed connections. */
  async #settleUntil(settle: () => Finding[], isDone: () => boolean): Promise<Finding[]> {
    const begun = performance.now()
    while (!isDone() && performance.now() - begun < patienceMs) {
      const findings = settle()
      if (findings.length > 0) return findings
      await this.#turn(observerOwner)
    }
    await this.#turnOf(observerOwner)
    return settle()
  }

  /** While a command runs in a node, it gets the CPU. */
  async #turn(who: string): Promise<void> {
    if (this.#programs.areRunning) await sleep(1)
    else await this.#turnOf(who)
  }

  /** One turn of the event loop, in which these continue. */
  async #turnOf(who: string): Promise<void> {
    beginCall(who)
    await nextTurn()
    endCall()
    this.#turnedAt = performance.now()
  }

  /** Whom to name if a client stops this program. */
  get #lastCaller(): string {
    const caller = this.calls.lastCaller
    return caller === undefined ? 'what clients left running' : `clients.${caller}`
  }
}
