import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from 'undici'
import { beginCall, endCall } from '../../checker/guest.ts'
import type { Operation } from '../../checker/history/operation.ts'
import { messageOf, thrown } from '../../checker/show.ts'
import type { Finding, Sight } from '../../checker/system.ts'
import type { Stream, VirtualHost, VirtualSocket } from '../../proxy/virtual-host.ts'
import {
  type ClientCall,
  ConfigError,
  type ExecResult,
  type NodeHandle,
  nearest,
  type ResolvedSystem,
} from '../config.ts'
import { readInside } from '../hold/inside.ts'
import type { Node } from '../node/node.ts'
import type { Runner } from '../runner.ts'
import { toJson } from './as-json.ts'
import { runInside } from './exec.ts'
import { History } from './history.ts'
import { namedAlone } from './named-alone.ts'
import { Past, type PastMark } from './past.ts'
import { callSights, sightOf } from './sights.ts'
import type { Visitors } from './visitors.ts'

const require = createRequire(import.meta.url)
/**
 * Loaded at the first request, because few systems need it. Loaded synchronously, because a client that does nothing
 * for a while counts as done.
 */
const undici = (): typeof import('undici') => require('undici')

/**
 * A client or observer counts as done after this many turns of the event loop in which all nodes were idle. With fewer,
 * a slow one would be cut off; with more, each step takes longer.
 */
const quietTurns = 4
/** Real time after which an observer, or a program run inside a node, is given up, in milliseconds. */
const patienceMs = 20_000
/**
 * The same for a program that a client or observer runs. It is shorter, so that the message names the program and not
 * its caller.
 */
const execMsMax = 10_000

/** Name under which programs run in a node are recorded as calls. */
export const execOf = (node: string): string => `exec ${node}`
const firstUdpPort = 50_000
/** Name of the observer in messages. */
const observer = 'state'

/** The clients' state while none of them is in a call. Plain data. */
export interface ClientsMark {
  readonly calls: readonly ClientCall[]
  readonly left: readonly (readonly [name: string, times: number])[]
  readonly history: readonly Operation[]
  readonly states: readonly (readonly [node: string, state: unknown])[]
  readonly past: PastMark
  readonly udpPort: number
}

const isOpen = ({ completedAt }: ClientCall): boolean => completedAt === undefined

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Callback by which undici learns that a connection is established, or why it failed. */
type Connected = (error: Error | null, socket: never) => void

/** Everyone who speaks to the nodes from outside: the clients, whose calls are choices, and the observer of states. */
export class Clients {
  readonly #runner: Runner
  readonly #host: VirtualHost
  readonly #system: ResolvedSystem
  readonly #nodes: readonly Node[]
  #agent: Agent | undefined
  /** By owner: `clients.put`, `state`. */
  readonly #handles = new Map<string, Readonly<Record<string, NodeHandle>>>()
  /** The first mistake of a client or observer, such as using a node that does not exist. */
  #problem: ConfigError | undefined
  readonly #states: Map<string, unknown>
  readonly #past: Past
  /** Objects that an observer returned as states. */
  readonly #given = new WeakSet<object>()
  readonly calls: Mutable<ClientCall>[]
  /** Calls in progress. */
  readonly #inProgress: Set<ClientCall>
  /** Copies of the calls. Those of ended calls never change. Undefined after a change. */
  #copies: readonly ClientCall[] | undefined
  readonly #over = new WeakMap<ClientCall, ClientCall>()
  /** Connections through published ports. */
  readonly visitors: Visitors
  readonly #history: History
  /** How often each client may still call. */
  readonly left: Map<string, number>
  /** Number of programs running inside nodes. */
  #running = 0
  readonly #sockets = new Set<VirtualSocket>()
  /** Connections that requests share, one after the other. */
  readonly #pooled = new WeakSet<VirtualSocket>()
  /** Number of connections ever requested. */
  #opened = 0
  #datagrams = 0
  #udpPort: number
  /** Unused connections from before a mark. The next request takes one of them. */
  readonly #idle: Stream[]
  /** Callers that wait for a datagram, by the port at which it will arrive. */
  readonly #asking = new Map<number, (answer: Buffer) => void>()
  /** Calls whose promises were settled, to be completed at the end of the step. */
  #settled: ((step: number) => void)[] = []

  /** @param mark of clients to continue */
  constructor(
    runner: Runner,
    host: VirtualHost,
    nodes: readonly Node[],
    system: ResolvedSystem,
    { mark, visitors }: { readonly mark?: ClientsMark | undefined; readonly visitors: Visitors },
  ) {
    this.visitors = visitors
    this.#runner = runner
    this.#host = host
    this.#nodes = nodes
    this.#system = system
    this.left = new Map(mark?.left ?? system.clients.map(({ name, times }) => [name, times]))
    this.#history = new History(mark?.history)
    this.calls = (mark?.calls ?? []).map(call => ({ ...call }))
    this.#inProgress = new Set(this.calls.filter(isOpen))
    this.#states = new Map(mark?.states)
    this.#past = new Past(mark?.past)
    this.#udpPort = mark?.udpPort ?? firstUdpPort
    this.#idle = host.streams().filter(({ socket }) => !socket.destroyed)
    // A connection must be read to notice that its node closes it.
    for (const { socket } of this.#idle) this.#keep(socket).resume()
    host.onDatagram(({ port, payload }) => this.#asking.get(port)?.(payload))
  }

  /** Whether a call is in progress, or somebody from outside is connected. */
  get isCalling(): boolean {
    return this.visitors.isOpen || this.#inProgress.size > 0
  }

  /** Clients that wait for an answer. */
  get callers(): ReadonlySet<string> {
    return new Set([...this.#inProgress].map(({ client }) => client))
  }

  /** The present calls. The array stays the same object while none begins or ends. */
  shownCalls(): readonly ClientCall[] {
    this.#copies ??= this.calls.map(call => {
      const known = this.#over.get(call)
      if (known) return known
      const copy = { ...call }
      if (!isOpen(call)) this.#over.set(call, copy)
      return copy
    })
    return this.#copies
  }

  /**
   * Their present state; undefined if a client is in a call or left a connection open, because such a client cannot be
   * restored.
   */
  mark(): ClientsMark | undefined {
    const isBusy = this.isCalling || this.#asking.size > 0 || this.#running > 0
    const isOpen = [...this.#sockets].some(
      socket => !socket.destroyed && (socket.readableLength > 0 || !(this.#pooled.has(socket) || this.#isIdle(socket))),
    )
    if (isBusy || isOpen) return undefined
    return {
      calls: this.calls.map(call => ({ ...call })),
      left: [...this.left],
      history: this.#history.operations,
      states: [...this.#states],
      past: this.#past.mark(),
      udpPort: this.#udpPort,
    }
  }

  /** Connects somebody from outside to a node. */
  visit(visitor: number, node: Node, port: number): void {
    this.visitors.connect(visitor, () => this.#open(node, port))
  }

  /**
   * Begins a call, which continues by itself as its answers arrive. A client that uses an unknown node has made a
   * mistake; that is not a failed call.
   */
  call(name: string, step: number): void {
    const client = this.#system.clients.find(each => each.name === name)!
    this.left.set(name, this.left.get(name)! - 1)
    const ordinal = client.times - this.left.get(name)!
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
    const ordinal = 1 + this.calls.filter(each => each.client === client).length
    this.#begin(client, ordinal, step, async () => {
      const result = await this.#exec(node, command, execMsMax)
      if (result) return result
      throw new Error(`"${command.join(' ')}" has not ended in ${name} after ${execMsMax / 1000} s`)
    })
  }

  #begin(
    name: string,
    ordinal: number,
    step: number,
    begin: (handles: Readonly<Record<string, NodeHandle>>) => Promise<unknown>,
  ): void {
    const call: Mutable<ClientCall> = {
      client: name,
      ordinal,
      invokedAt: step,
      completedAt: undefined,
      value: undefined,
      error: undefined,
    }
    this.calls.push(call)
    this.#inProgress.add(call)
    this.#copies = undefined
    const settle = (result: Partial<ClientCall>) =>
      this.#settled.push(completedAt => {
        Object.assign(call, { ...result, completedAt })
        this.#inProgress.delete(call)
        this.#copies = undefined
      })
    const who = `clients.${name}`
    const run = async () => begin(this.#handlesFor(who))
    beginCall(who)
    const ended = run()
    endCall()
    ended
      .then(value => {
        toJson(who, value)
        settle({ value })
      })
      .catch(error => {
        if (error instanceof ConfigError) this.#problem ??= error
        settle({ error: messageOf(error) })
      })
  }

  /**
   * Lets the clients continue until neither they nor the nodes have anything left to do. If anything passed between
   * them, any node may have changed.
   */
  async attend(settle: () => Finding[], step: number): Promise<{ findings: Finding[]; hasPassed: boolean }> {
    const before = this.isCalling ? this.#activity() : undefined
    // The event loop turns at least once in each step, because signals to the tool are handled there.
    await this.#turnOf(this.#callers)
    this.#requireNoProblem()
    if (before === undefined) return { findings: [], hasPassed: false }
    const findings = await this.#settleTurns(settle)
    this.#requireNoProblem()
    for (const complete of this.#settled.splice(0)) complete(step)
    this.#history.endStep(step)
    return { findings, hasPassed: this.#activity() !== before }
  }

  /** Observes the states of these nodes. */
  async observe(nodes: readonly Node[], settle: () => Finding[]): Promise<void> {
    const { observe } = this.#system
    if (observe === undefined) return
    const pending = nodes
      .filter(node => node.isAlive)
      .flatMap(node => {
        const seen = this.#look(node)
        return seen instanceof Promise ? [new Look(node, seen)] : []
      })
    if (pending.length === 0) return
    const findings = await this.#settleUntil(settle, () => pending.every(({ isOver }) => isOver))
    // A node that ended while it was observed could not answer. Its end is what matters.
    const alive = pending.filter(({ node }) => node.isAlive)
    for (const { node, seen } of alive.filter(({ isDone }) => isDone)) this.#see(node, await seen)
    this.#requireNoProblem()
    const late = alive.filter(({ isDone }) => !isDone)
    if (late.length === 0 || findings.length > 0) return
    const names = late.map(({ node }) => node.name).join(', ')
    throw new ConfigError([
      `state: expected the observer of ${names} to end, found it waiting after ${patienceMs / 1000} s`,
    ])
  }

  get history(): readonly Operation[] {
    return this.#history.operations
  }

  /** Runs a program in a node, which continues meanwhile; `undefined` if the program does not end in time. */
  async run(node: Node, program: readonly string[], settle: () => Finding[]): Promise<ExecResult | undefined> {
    let result: ExecResult | undefined
    const end = this.#exec(node, program, patienceMs).then(ended => {
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

  /** Lets the nodes run until somebody outside is done with them. */
  async goOn(settle: () => Finding[], isDone: () => boolean): Promise<void> {
    while (!isDone() && settle().length === 0) await sleep(1)
  }

  stateOf(node: Node): unknown {
    return this.#states.get(node.name)
  }

  /** Earlier states of a node, the latest first. The list stays the same object while there is nothing new. */
  pastOf(node: string): readonly unknown[] {
    return this.#past.of(node)
  }

  /** The results of calls, and which nodes were seen to have a state. */
  sights(): Sight[] {
    const calls = this.#system.clients.flatMap(({ name }) =>
      callSights(
        this.calls.filter(({ client }) => client === name),
        name,
      ),
    )
    const states = [...this.#states].filter(([, state]) => state !== undefined)
    return [...calls, ...states.map(([node]) => ({ what: sightOf.state(node), count: 1 }))]
  }

  close(): void {
    void this.#agent?.destroy().catch(() => {})
  }

  #look(node: Node): unknown {
    const failed = (error: unknown): never => {
      if (error instanceof ConfigError) throw error
      const what = `state: the observer of ${node.name} threw ${thrown(error)}`
      throw new ConfigError([what], { cause: error })
    }
    beginCall(observer)
    try {
      const seen = this.#system.observe!(this.#handlesFor(observer)[node.name]!)
      if (seen instanceof Promise) return seen.catch(failed)
      this.#see(node, seen)
      return undefined
    } catch (error) {
      return failed(error)
    } finally {
      endCall()
    }
  }

  #see(node: Node, state: unknown): void {
    const text = toJson(`state of ${node.name}`, state)
    // An observer may return the same object again and change it, so the state is copied.
    const isGiven = typeof state === 'object' && state !== null
    const seen = isGiven && this.#given.has(state) ? JSON.parse(text!) : state
    if (isGiven) this.#given.add(state)
    this.#past.see(node.name, seen, text)
    this.#states.set(node.name, seen)
  }

  #requireNoProblem(): void {
    if (this.#problem) throw this.#problem
  }

  /** Turns the event loop and runs the nodes until both are quiet. */
  async #settleTurns(settle: () => Finding[]): Promise<Finding[]> {
    let settled: string | undefined
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      if (this.#activity() !== settled || this.#running > 0) {
        const findings = settle()
        if (findings.length > 0) return findings
        settled = this.#activity()
        quiet = 0
      }
      await this.#turn(this.#callers)
    }
    return []
  }

  /** The same until `isDone`, or until that has taken too long. Closed connections are then reported to the nodes. */
  async #settleUntil(settle: () => Finding[], isDone: () => boolean): Promise<Finding[]> {
    const begun = performance.now()
    while (!isDone() && performance.now() - begun < patienceMs) {
      const findings = settle()
      if (findings.length > 0) return findings
      await this.#turn(observer)
    }
    await this.#turnOf(observer)
    return settle()
  }

  /** While a command runs in a node, it gets the CPU. */
  async #turn(who: string): Promise<void> {
    if (this.#running > 0) await sleep(1)
    else await this.#turnOf(who)
  }

  /** One turn of the event loop, in which these continue. */
  async #turnOf(who: string): Promise<void> {
    beginCall(who)
    await nextTurn()
    endCall()
  }

  get #callers(): string {
    const call = [...this.#inProgress].at(-1)
    return call ? `clients.${call.client}` : 'what clients left running'
  }

  /** Changes whenever something passes between us and the nodes. */
  #activity(): string {
    // Taken from the connections' counters: a data listener would take the data from their readers.
    const connections = [...this.#sockets].map(({ side }) => `${side.state} ${side.sendNext} ${side.receiveNext}`)
    return [this.#datagrams, this.#opened, ...connections].join()
  }

  #open(node: Node, port: number): VirtualSocket {
    this.#opened += 1
    return this.#keep(this.#host.connect(node.name, port))
  }

  #keep(socket: VirtualSocket): VirtualSocket {
    this.#sockets.add(socket)
    return socket.once('close', () => this.#sockets.delete(socket))
  }

  #isIdle(socket: VirtualSocket): boolean {
    return this.#idle.some(idle => idle.socket === socket)
  }

  /** Takes an idle connection, or opens one. */
  #openPooled(node: Node, port: number, done: Connected): void {
    const index = this.#idle.findIndex(({ host, socket }) => host === node.name && socket.remotePort === port)
    const idle = this.#idle.splice(index, index < 0 ? 0 : 1)[0]?.socket
    if (idle && !idle.destroyed) {
      this.#pooled.add(idle)
      // Not before the request was made, just as for a new connection.
      process.nextTick(done, null, idle.pause() as never)
      return
    }
    const socket = this.#open(node, port)
    this.#pooled.add(socket)
    socket.once('connect', () => done(null, socket as never))
    socket.once('error', error => done(error, null as never))
  }

  #connect({ hostname, port }: { hostname: string; port?: string | number }, done: Connected) {
    const node = this.#nodes.find(each => each.address === hostname)!
    try {
      this.#openPooled(node, Number(port || 80), done)
    } catch (error) {
      done(error as Error, null as never)
    }
  }

  #handlesFor(who: string): Readonly<Record<string, NodeHandle>> {
    const known = this.#handles.get(who)
    if (known) return known
    const all = Object.fromEntries(this.#nodes.map(node => [node.name, this.#handleOf(node, who)]))
    const handles = namedAlone(all, name => {
      this.#problem ??= new ConfigError([`${who}: there is no node ${name}; ${nearest(name, Object.keys(all))}`])
      return this.#problem
    })
    this.#handles.set(who, handles)
    return handles
  }

  #handleOf(node: Node, who: string): NodeHandle {
    return {
      name: node.name,
      address: node.address,
      http: (port, path, init) =>
        undici().request(`http://${node.address}:${port}${path}`, { ...init, dispatcher: this.#dispatcher }),
      tcp: port => this.#guard(this.#open(node, port), `${who}: its connection to ${node.name}:${port}`),
      udp: (port, data) => this.#ask(node, port, Buffer.from(data as Uint8Array)),
      exec: command => this.#execFor(who, node, command),
      output: () => node.output(),
      file: async path => readInside(rootOf(node), resolve(node.workingDirectory, path)),
    }
  }

  get #dispatcher(): Agent {
    this.#agent ??= new (undici().Agent)({
      connect: (options, done) => this.#connect(options, done as Connected),
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return this.#agent
  }

  #ask(node: Node, port: number, data: Buffer): Promise<Buffer> {
    const own = this.#udpPort++
    this.#datagrams += 1
    this.#host.sendUdp(node.name, port, data, own)
    return new Promise(resolve => {
      this.#asking.set(own, answer => {
        this.#asking.delete(own)
        this.#datagrams += 1
        resolve(answer)
      })
    })
  }

  /** Guards a stream that nobody listens to: its error would otherwise end this program. */
  #guard(socket: VirtualSocket, what: string): VirtualSocket {
    return socket.on('error', error => {
      if (socket.listenerCount('error') > 1) return
      this.#problem ??= new ConfigError([`${what} failed, and had no listener for 'error': ${error.message}`])
    })
  }

  async #execFor(who: string, node: Node, command: readonly string[]): Promise<ExecResult> {
    const result = await this.#exec(node, command, execMsMax)
    if (result) return result
    const program = command.join(' ')
    this.#problem ??= new ConfigError([
      `${who}: expected "${program}" to end in ${node.name}, found it running after ${execMsMax / 1000} s: no step is executed meanwhile`,
    ])
    throw this.#problem
  }

  async #exec(node: Node, command: readonly string[], msMax: number): Promise<ExecResult | undefined> {
    const inside = node.isAlive ? node.inside : undefined
    if (inside === undefined) throw new Error(`${node.name} is down: cannot run ${command.join(' ')} in it`)
    this.#running += 1
    this.#runner.tracer.foreignChildren += 1
    try {
      return await runInside(inside, command, msMax)
    } finally {
      this.#running -= 1
      this.#runner.tracer.foreignChildren -= 1
    }
  }
}

const rootOf = ({ name, held }: Node): number => {
  if (held?.root !== undefined) return held.root
  throw Object.assign(new Error(`${name} is down`), { code: 'ENOENT' })
}

/** Observes the state of a node over several turns. */
class Look {
  readonly node: Node
  readonly seen: Promise<unknown>
  isDone = false

  constructor(node: Node, seen: Promise<unknown>) {
    this.node = node
    this.seen = seen
    const end = () => {
      this.isDone = true
    }
    seen.then(end, end)
  }

  /** Whether nothing more can come of it. */
  get isOver(): boolean {
    return this.isDone || !this.node.isAlive
  }
}
