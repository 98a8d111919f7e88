import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Does, effectOf, kindOf, nodeOf, sentenceOf } from '../../checker/happening/happenings.ts'
import { isStrike } from '../../checker/happening/strikes.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { messageOf } from '../../checker/system/show.ts'
import type { ChurnEvent, ChurnPlan } from '../../topologies/churn/plan.ts'
import { ConfigError, type ExecResult, type NodeView, type ResolvedSystem } from '../config/config.ts'
import { unlessInterrupted } from '../hold/turns/interruption.ts'
import type { Look } from '../timed/look.ts'
import { type Happened, Measurements } from '../timed/measurements.ts'
import { Planned } from '../timed/planned.ts'
import { type Happening, inOrder, type TimedLinkChange } from '../timed/timing.ts'
import type { Wiring } from '../timed/wiring.ts'
import type { Ending } from './ending.ts'
import { type LookManner, Looks } from './looks.ts'
import { NativeClients } from './native-clients.ts'
import { NativeCluster } from './native-cluster.ts'
import { handleOf, insideOf } from './native-handle.ts'
import type { NativeNode } from './native-node.ts'
import type { NativeEngine } from './native-runtime.ts'
import { awaitedBy, awaitReady, inOrderOfStart } from './ready.ts'
import { openTerminal, type Terminal, type TerminalKind } from './terminal.ts'

export interface EmulationOptions extends Wiring {
  /** Which nodes come and go, and when. */
  readonly churn: ChurnPlan
  /** Links of the topology that are changed, in the order of time. */
  readonly links: readonly TimedLinkChange[]
  readonly forMs: number
  readonly lookEveryMs: number
  readonly looks: LookManner
  /** Milliseconds from the end of a client's call to the next one. */
  readonly pauseOf: (client: string) => number
  readonly joined: ((node: NodeView) => boolean) | undefined
}

/** Callbacks for progress. */
export interface EmulationObserver {
  /** Number of nodes present from the start that have been started. */
  onStart(started: number, all: number): void
  onHappening(happening: Happened): void
  onLook(look: Look, atMs: number, values: Readonly<Record<string, boolean>>): void
}

/** A system that runs in real time over an emulated internet, while nodes come and go, and is observed. */
export class Emulation {
  readonly cluster: NativeCluster
  readonly clients: NativeClients
  readonly measurements: Measurements
  readonly #system: ResolvedSystem
  readonly #options: EmulationOptions
  readonly #observer: EmulationObserver
  readonly #looks: Looks
  readonly #planned = new Planned()
  #planTimer: NodeJS.Timeout | undefined
  #begun = performance.now()

  private constructor(
    system: ResolvedSystem,
    options: EmulationOptions,
    observer: EmulationObserver,
    cluster: NativeCluster,
  ) {
    this.#system = system
    this.#options = options
    this.#observer = observer
    this.cluster = cluster
    this.clients = new NativeClients(this.cluster)
    this.#looks = new Looks(this.cluster, this.clients, system)
    this.measurements = new Measurements(system, options.joined)
    this.cluster.onEnd = (node, ending) => this.#noteEnd(node, ending)
  }

  /** @throws what `NativeCluster.open` throws */
  static async open(
    system: ResolvedSystem,
    options: EmulationOptions,
    observer: EmulationObserver,
    engine?: NativeEngine,
  ): Promise<Emulation> {
    for (const { does } of options.churn.events) requireNative(does)
    return new Emulation(system, options, observer, await NativeCluster.open(system, options, engine))
  }

  /** The functions that carry out the rows of `happenings` on running nodes. */
  readonly #carriedOut: {
    readonly [Each in Does]?: (happening: Extract<Happening, { readonly does: Each }>) => Promise<void>
  } = {
    join: ({ node }) => this.#join(node),
    leave: ({ node, manner }) => this.cluster.leave(node, manner),
    reboot: async ({ node }) => {
      await this.cluster.leave(node, 'kill')
      await this.#join(node)
    },
    partition: ({ groups }) => this.cluster.partition(groups),
    heal: () => this.cluster.heal(),
    pause: async ({ node }) => this.cluster.node(node).freeze(aPause),
    resume: async ({ node }) => this.cluster.node(node).thaw(aPause),
    reset: async ({ node, peer }) => this.cluster.reset(node, peer),
    link: change => this.cluster.changeLink(change),
    set: ({ ways }) => this.cluster.set(ways),
  }

  /** Milliseconds since it began. */
  get elapsedMs(): number {
    return performance.now() - this.#begun
  }

  get nodes(): readonly { name: string; address: string; isAlive: boolean; isCut: boolean }[] {
    return this.cluster.nodes.map(node => ({
      name: node.name,
      address: node.address,
      isAlive: node.isAlive,
      isCut: this.cluster.isCut(node),
    }))
  }

  get ways() {
    return this.cluster.settings()
  }

  get links() {
    return this.cluster.linkChanges
  }

  get groups() {
    return this.cluster.groups
  }

  get calls() {
    return this.clients.calls
  }

  get timed() {
    return this.clients.timed
  }

  get counts() {
    return this.cluster.counts
  }

  /** Carries out the plan until it is over or a signal comes. */
  async run(signal: AbortSignal): Promise<void> {
    const { churn, forMs, pauseOf } = this.#options
    const over = AbortSignal.any([signal, AbortSignal.timeout(forMs)])
    this.#begun = performance.now()
    const { nodes } = this.#system
    for (const [index, node] of inOrderOfStart(churn.initial, nodes).entries()) {
      // Gives requests to end a chance meanwhile.
      await nextTurn()
      for (const before of awaitedBy(node, churn.initial))
        await awaitReady(this.cluster.node(before), nodes.find(({ name }) => name === before)!, over)
      if (over.aborted) return
      await unlessInterrupted(this.#join(node.name))
      this.#observer.onStart(index + 1, churn.initial.length)
    }
    for (const client of this.#system.clients) this.clients.begin(client, pauseOf(client.name))
    const work = Promise.all([this.#carryOut(churn, over), this.#lookAgainAndAgain(over)])
    await Promise.race([work, this.cluster.failed, onceAborted(signal)])
  }

  /** @throws UsageError for an unknown node, and what this pace cannot do */
  async act(happening: Happening): Promise<void> {
    const atMs = this.elapsedMs
    requireNative(happening.does)
    await (this.#carriedOut[happening.does] as ((happening: Happening) => Promise<void>) | undefined)?.(happening)
    this.#note({ ...describe(happening), atMs, isCrash: false })
  }

  /**
   * Adds a node that is like another one, and starts it. Clients reach it too.
   *
   * @throws what `NativeCluster.add` throws
   */
  async add(name: string, like: string): Promise<void> {
    this.clients.reach(await this.cluster.add(name, like))
    const atMs = this.elapsedMs
    await this.#join(name)
    this.#note({
      atMs,
      kind: 'repair',
      label: `${name} is added, like ${like}`,
      node: name,
      step: 'restart',
      isCrash: false,
    })
  }

  get planned(): readonly ChurnEvent[] {
    return this.#planned.all
  }

  /** @throws UsageError for an event in the past, and what this pace cannot do */
  plan(events: readonly ChurnEvent[]): void {
    for (const { does } of events) requireNative(does)
    this.#planned.put(events, this.elapsedMs)
    this.#awaitPlanned()
  }

  #awaitPlanned(): void {
    clearTimeout(this.#planTimer)
    if (this.#planned.all.length === 0) return
    const waitMs = Math.min(this.#planned.nextMs - this.elapsedMs, timerMsMax)
    this.#planTimer = setTimeout(() => {
      // One that is impossible by now, such as a node that joins and is there, changes nothing.
      for (const { atMs: _, ...happening } of this.#planned.take(this.elapsedMs))
        this.act(happening).catch(() => undefined)
      this.#awaitPlanned()
    }, waitMs)
  }

  /**
   * Runs a program in a node.
   *
   * @throws UsageError for an unknown node, one that is down, and a program that does not end
   */
  async exec(name: string, command: readonly string[]): Promise<ExecResult> {
    const handle = handleOf(this.cluster.node(name))
    try {
      return await handle.exec(command)
    } catch (cause) {
      throw new UsageError(messageOf(cause), { cause })
    } finally {
      handle.close()
    }
  }

  /**
   * Starts a program in a node with a terminal of its own.
   *
   * @throws UsageError as `exec`
   */
  terminal(name: string, command: readonly string[], asked: TerminalKind): Terminal {
    const node = this.cluster.node(name)
    try {
      return openTerminal(insideOf(node, command), command, asked)
    } catch (cause) {
      throw new UsageError(messageOf(cause), { cause })
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#planTimer)
    this.clients.close()
    this.#looks.close()
    await this.cluster.close()
  }

  async #join(name: string): Promise<void> {
    await this.cluster.join(name)
    this.measurements.started(name, this.elapsedMs)
  }

  async #carryOut({ events: comings }: ChurnPlan, over: AbortSignal): Promise<void> {
    const events = inOrder(comings, this.#options.links)
    // A program that is slow to end does not delay later events.
    const underWay: Promise<void>[] = []
    for (const { atMs, ...happening } of events) {
      if (!(await this.#until(atMs, over))) break
      underWay.push(this.act(happening))
      underWay.at(-1)!.catch(() => undefined)
    }
    await this.#until(this.#options.forMs, over)
    await Promise.all(underWay)
  }

  async #lookAgainAndAgain(over: AbortSignal): Promise<void> {
    const { lookEveryMs, forMs } = this.#options
    for (let at = lookEveryMs; at <= forMs; at = Math.max(at + lookEveryMs, this.elapsedMs)) {
      if (!(await this.#until(at, over))) return
      await this.#look()
    }
  }

  async #look(): Promise<void> {
    const atMs = this.elapsedMs
    const look = await this.#looks.look(this.#options.looks)
    this.measurements.loads.looked(atMs, this.cluster.carried)
    this.#observer.onLook(look, atMs, this.#evaluate(look, atMs))
  }

  #evaluate(look: Look, atMs: number): Readonly<Record<string, boolean>> {
    try {
      return this.measurements.looked(look, atMs)
    } catch (cause) {
      throw new ConfigError([`properties: a property threw ${cause}`], { cause })
    }
  }

  /** Returns whether that time came before the end. */
  async #until(atMs: number, over: AbortSignal): Promise<boolean> {
    await sleep(Math.max(0, atMs - this.elapsedMs), undefined, { signal: over }).catch(() => undefined)
    return !over.aborted
  }

  #noteEnd({ name }: NativeNode, ending: Ending): void {
    const how = 'code' in ending ? `ended with code ${ending.code}` : `was killed by signal ${ending.signal}`
    const isCrash = !('code' in ending && ending.code === 0)
    this.#note({ atMs: this.elapsedMs, kind: 'fault', node: name, label: `${name} ${how}`, step: 'crash', isCrash })
  }

  #note(happening: Happened): void {
    this.measurements.happened(happening)
    this.#observer.onHappening(happening)
  }
}

/** What needs nodes whose clocks and system calls are held. @throws UsageError */
const requireNative = (does: Does): void => {
  if (does === 'name')
    throw new UsageError(
      '"name" is not there at the pace native, where nodes read names from a file: expected --pace virtual or real',
    )
  if (does !== 'clock' && !isStrike(does)) return
  throw new UsageError(
    `"${does}" is not there at the pace native, where nodes have this machine's clock and their system calls are not held: expected --pace virtual or real`,
  )
}

/** The longest wait of a timer of Node.js. */
const timerMsMax = 2 ** 31 - 1

/** For what a node is stopped that was paused. */
const aPause = 'a pause'

const onceAborted = (signal: AbortSignal) =>
  new Promise<void>(resolve => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))

const describe = (happening: Happening): Pick<Happened, 'kind' | 'label' | 'node' | 'step'> => ({
  kind: effectOf(happening) === 'harm' ? 'fault' : 'repair',
  label: sentenceOf(happening),
  node: nodeOf(happening),
  step: kindOf(happening),
})
