import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from 'undici'
import type { Operation } from '../checker/history/operation.ts'
import type { Finding } from '../checker/system.ts'
import type { Stream, VirtualHost, VirtualSocket } from '../proxy/virtual-host.ts'
import type { Cell } from './cell.ts'
import { type ClientCall, ConfigError, type ExecResult, type NodeHandle, type ResolvedSystem } from './config.ts'
import { runInside } from './exec.ts'
import { History } from './history.ts'
import type { Node } from './node.ts'

const require = createRequire(import.meta.url)
/** Loaded at the first request, for few systems need it; and at once, for a client is over that does nothing for a while. */
const undici = (): typeof import('undici') => require('undici')

/** Nothing more comes of a client or observer when the nodes were idle during so many turns of the event loop. */
const quietTurns = 4
/** Real time after which an observer or a program run inside a node is given up. */
const patienceMs = 20_000
const firstUdpPort = 50_000

/** Clients none of whom is in the middle of a call: plain data. */
export interface ClientsMark {
  readonly calls: readonly ClientCall[]
  readonly left: readonly (readonly [name: string, times: number])[]
  readonly history: readonly Operation[]
  readonly states: readonly (readonly [node: string, state: unknown])[]
  readonly udpPort: number
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Who speaks to the nodes from outside: the clients whose calls are choices, and the observer of states. */
export class Clients {
  readonly #cell: Cell
  readonly #host: VirtualHost
  readonly #system: ResolvedSystem
  readonly #nodes: readonly Node[]
  #agent: Agent | undefined
  readonly #handles: Record<string, NodeHandle>
  readonly #states: Map<string, unknown>
  readonly calls: Mutable<ClientCall>[]
  readonly #history: History
  /** How often each client may still call. */
  readonly left: Map<string, number>
  /** Programs that were run inside nodes and have not ended. */
  #running = 0
  readonly #sockets = new Set<VirtualSocket>()
  /** Those that requests share, one after the other. */
  readonly #pooled = new WeakSet<VirtualSocket>()
  /** Connections that were ever asked for. */
  #opened = 0
  #datagrams = 0
  #udpPort: number
  /** Connections with nobody in them, from before a mark: the next who asks for one has it. */
  readonly #idle: Stream[]
  /** Who waits for a datagram, by the port that it will come to. */
  readonly #asking = new Map<number, (answer: Buffer) => void>()
  /** Calls whose promises were settled, to be completed at the end of the step. */
  #settled: ((step: number) => void)[] = []

  /** @param mark of clients that go on as these */
  constructor(cell: Cell, host: VirtualHost, nodes: readonly Node[], system: ResolvedSystem, mark?: ClientsMark) {
    this.#cell = cell
    this.#host = host
    this.#nodes = nodes
    this.#system = system
    this.left = new Map(mark?.left ?? system.clients.map(({ name, times }) => [name, times]))
    this.#history = new History(mark?.history)
    this.calls = (mark?.calls ?? []).map(call => ({ ...call }))
    this.#states = new Map(mark?.states)
    this.#udpPort = mark?.udpPort ?? firstUdpPort
    this.#idle = host.streams().filter(({ socket }) => !socket.destroyed)
    // Flowing, a connection notices that its node closes it.
    for (const { socket } of this.#idle) this.#keep(socket).resume()
    this.#handles = Object.fromEntries(nodes.map(node => [node.name, this.#handleOf(node)]))
    host.onDatagram(({ port, payload }) => this.#asking.get(port)?.(payload))
  }

  /** Whether a call is in progress. */
  get isCalling(): boolean {
    return this.calls.some(call => call.completedAt === undefined)
  }

  /** As they are; undefined where one is in the middle of a call, or has left a connection open: such a one cannot go back. */
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
      udpPort: this.#udpPort,
    }
  }

  /** Begins a call; it goes on by itself as its answers come. */
  call(name: string, step: number): void {
    const client = this.#system.clients.find(each => each.name === name)!
    this.left.set(name, this.left.get(name)! - 1)
    const ordinal = client.times - this.left.get(name)!
    const call: Mutable<ClientCall> = {
      client: name,
      ordinal,
      invokedAt: step,
      completedAt: undefined,
      value: undefined,
      error: undefined,
    }
    this.calls.push(call)
    const settle = (result: Partial<ClientCall>) =>
      this.#settled.push(completedAt => Object.assign(call, { ...result, completedAt }))
    const operation = this.#history.performerOf(name)
    const run = async () => client.run(this.#handles, { ordinal, operation })
    run().then(
      value => settle({ value }),
      error => settle({ error: String(error?.message ?? error) }),
    )
  }

  /**
   * Lets the clients go on until neither they nor the nodes have anything left to do. Where anything passed between them,
   * any node may be another than before.
   */
  async attend(settle: () => Finding[], step: number): Promise<{ findings: Finding[]; hasPassed: boolean }> {
    const before = this.#activity()
    // Once in each step the event loop turns, whoever waits for it: signals to the tool are handled there.
    await nextTurn()
    if (!this.isCalling) return { findings: [], hasPassed: false }
    const findings = await this.#settleTurns(settle)
    for (const complete of this.#settled.splice(0)) complete(step)
    this.#history.endStep(step)
    return { findings, hasPassed: this.#activity() !== before }
  }

  /** Looks at the states of these nodes. */
  async observe(nodes: readonly Node[], settle: () => Finding[]): Promise<void> {
    const { observe } = this.#system
    if (observe === undefined) return
    const pending = nodes
      .filter(node => node.isAlive)
      .flatMap(node => {
        const seen = this.#look(node)
        return seen instanceof Promise ? [{ node, seen }] : []
      })
    if (pending.length === 0) return
    let isDone = false
    const all = Promise.all(pending.map(async ({ node, seen }) => this.#states.set(node.name, await seen))).finally(
      () => {
        isDone = true
      },
    )
    all.catch(() => {})
    const findings = await this.#settleUntil(settle, () => isDone)
    if (isDone) await all
    if (isDone || findings.length > 0) return
    const names = pending.map(({ node }) => node.name).join(', ')
    throw new ConfigError([
      `state: expected the observer of ${names} to end, found it waiting after ${patienceMs / 1000} s`,
    ])
  }

  get history(): readonly Operation[] {
    return this.#history.operations
  }

  /** Runs a program in a node, which goes on meanwhile; `undefined` where it does not end in time. */
  async run(node: Node, program: readonly string[], settle: () => Finding[]): Promise<ExecResult | undefined> {
    let result: ExecResult | undefined
    const end = this.#exec(node, program).then(ended => {
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

  /** Lets the nodes go on until somebody outside has done with them. */
  async goOn(settle: () => Finding[], isDone: () => boolean): Promise<void> {
    while (!isDone() && settle().length === 0) await sleep(1)
  }

  stateOf(node: Node): unknown {
    return this.#states.get(node.name)
  }

  close(): void {
    void this.#agent?.destroy().catch(() => {})
  }

  #look(node: Node): unknown {
    const failed = (error: unknown): never => {
      throw new ConfigError([`state: the observer of ${node.name} threw ${error}`], { cause: error })
    }
    try {
      const seen = this.#system.observe!(this.#handles[node.name]!)
      if (seen instanceof Promise) return seen.catch(failed)
      this.#states.set(node.name, seen)
      return undefined
    } catch (error) {
      return failed(error)
    }
  }

  /** Turns of the event loop and of the nodes, until both are quiet. */
  async #settleTurns(settle: () => Finding[]): Promise<Finding[]> {
    let settled: string | undefined
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      if (this.#activity() !== settled || this.#running > 0) {
        const findings = settle()
        if (findings.length > 0) return findings
        settled = this.#activity()
        quiet = 0
      }
      await this.#turn()
    }
    return []
  }

  /** The same until what is waited for is done, or has taken too long; what was closed then reaches the nodes. */
  async #settleUntil(settle: () => Finding[], isDone: () => boolean): Promise<Finding[]> {
    const begun = performance.now()
    while (!isDone() && performance.now() - begun < patienceMs) {
      const findings = settle()
      if (findings.length > 0) return findings
      await this.#turn()
    }
    await nextTurn()
    return settle()
  }

  /** A command that runs in a node has the CPU meanwhile. */
  #turn(): Promise<void> {
    return this.#running > 0 ? sleep(1) : nextTurn()
  }

  /** Another whenever something has passed between us and the nodes. */
  #activity(): string {
    // Read off the connections: a listener for their data would take it from whoever reads them.
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

  /** One that is idle, or a new one. */
  #openPooled(node: Node, port: number, done: (error: Error | null, socket: never) => void): void {
    const index = this.#idle.findIndex(({ host, socket }) => host === node.name && socket.remotePort === port)
    const idle = this.#idle.splice(index, index < 0 ? 0 : 1)[0]?.socket
    if (idle && !idle.destroyed) {
      this.#pooled.add(idle)
      // Not before whoever asks has asked: as one that is opened.
      process.nextTick(done, null, idle.pause() as never)
      return
    }
    const socket = this.#open(node, port)
    this.#pooled.add(socket)
    socket.once('connect', () => done(null, socket as never))
    socket.once('error', error => done(error, null as never))
  }

  #connect(
    { hostname, port }: { hostname: string; port?: string | number },
    done: (error: Error | null, socket: never) => void,
  ) {
    const node = this.#nodes.find(each => each.address === hostname)!
    try {
      this.#openPooled(node, Number(port || 80), done)
    } catch (error) {
      done(error as Error, null as never)
    }
  }

  #handleOf(node: Node): NodeHandle {
    return {
      name: node.name,
      address: node.address,
      http: (port, path, init) =>
        undici().request(`http://${node.address}:${port}${path}`, { ...init, dispatcher: this.#dispatcher }),
      tcp: port => this.#open(node, port),
      udp: (port, data) => this.#ask(node, port, Buffer.from(data as Uint8Array)),
      exec: command => this.#exec(node, command),
      output: () => node.output(),
      file: path => readFile(this.#pathInside(node, path)),
    }
  }

  get #dispatcher(): Agent {
    this.#agent ??= new (undici().Agent)({
      connect: (options, done) => this.#connect(options, done),
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

  async #exec(node: Node, command: readonly string[]) {
    const pid = node.held?.pid
    if (!pid || !node.isAlive) throw new Error(`${node.name} is down: cannot run ${command.join(' ')} in it`)
    this.#running += 1
    this.#cell.tracer.foreignChildren += 1
    try {
      return await runInside(pid, command, node.workingDirectory)
    } finally {
      this.#running -= 1
      this.#cell.tracer.foreignChildren -= 1
    }
  }

  #pathInside(node: Node, path: string): string {
    const pid = node.held?.pid
    if (!pid) throw Object.assign(new Error(`${node.name} is down`), { code: 'ENOENT' })
    return `/proc/${pid}/root${isAbsolute(path) ? path : join(node.workingDirectory, path)}`
  }
}
