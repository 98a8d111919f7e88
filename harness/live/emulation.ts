import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import type { ChurnPlan } from '../../topologies/churn/plan.ts'
import { ConfigError, type NodeView, type ResolvedSystem } from '../config.ts'
import { unlessInterrupted } from '../hold/interruption.ts'
import type { Ending } from './ending.ts'
import { LiveClients } from './live-clients.ts'
import { LiveCluster, type WaySetting } from './live-cluster.ts'
import type { LiveNode } from './live-node.ts'
import type { LiveEngine } from './live-runtime.ts'
import { type Look, type Manner as LookManner, Looks } from './looks.ts'
import { type Happening, Measurements } from './measurements.ts'
import type { Wiring } from './wiring.ts'

export interface EmulationOptions extends Wiring {
  /** Who comes and goes, and when. */
  readonly churn: ChurnPlan
  readonly forMs: number
  readonly lookEveryMs: number
  readonly looks: LookManner
  /** Milliseconds from the end of a client's call to its next. */
  readonly pauseOf: (client: string) => number
  readonly joined: ((node: NodeView) => boolean) | undefined
}

/** What can be done to a running system; the events of a plan, and more. */
export type Action =
  | { readonly does: 'join'; readonly node: string }
  | { readonly does: 'leave'; readonly node: string; readonly manner: 'stop' | 'kill' | 'cut' }
  /** It is killed, and started again. */
  | { readonly does: 'restart'; readonly node: string }
  | { readonly does: 'partition'; readonly groups: readonly (readonly string[])[] }
  | { readonly does: 'heal' }
  /** TCP connections between two nodes are reset. */
  | { readonly does: 'reset'; readonly node: string; readonly peer: string }
  | { readonly does: 'set'; readonly ways: readonly WaySetting[] }

/** Who wants to know what happens. */
export interface EmulationObserver {
  /** So many of those that are there from the start have been started. */
  onStart(started: number, all: number): void
  onHappening(happening: Happening): void
  onLook(look: Look, atMs: number, values: Readonly<Record<string, boolean>>): void
}

/** A system that runs in real time over an emulated internet while nodes come and go, and is looked at. */
export class Emulation {
  readonly cluster: LiveCluster
  readonly clients: LiveClients
  readonly measurements: Measurements
  readonly #system: ResolvedSystem
  readonly #options: EmulationOptions
  readonly #observer: EmulationObserver
  readonly #looks: Looks
  #begun = performance.now()

  private constructor(
    system: ResolvedSystem,
    options: EmulationOptions,
    observer: EmulationObserver,
    cluster: LiveCluster,
  ) {
    this.#system = system
    this.#options = options
    this.#observer = observer
    this.cluster = cluster
    this.clients = new LiveClients(this.cluster)
    this.#looks = new Looks(this.cluster, this.clients, system.observe)
    this.measurements = new Measurements(system.properties, options.joined)
    this.cluster.onEnd = (node, ending) => this.#noteEnd(node, ending)
  }

  /** @throws what `LiveCluster.open` throws */
  static async open(
    system: ResolvedSystem,
    options: EmulationOptions,
    observer: EmulationObserver,
    engine?: LiveEngine,
  ): Promise<Emulation> {
    return new Emulation(system, options, observer, await LiveCluster.open(system, options, engine))
  }

  /** Milliseconds since it began. */
  get elapsedMs(): number {
    return performance.now() - this.#begun
  }

  /** Carries out the plan, until it is over or the signal comes. */
  async run(signal: AbortSignal): Promise<void> {
    const { churn, forMs, pauseOf } = this.#options
    const over = AbortSignal.any([signal, AbortSignal.timeout(forMs)])
    this.#begun = performance.now()
    for (const [index, node] of churn.initial.entries()) {
      // Whoever asks for the end meanwhile is heard.
      await nextTurn()
      if (over.aborted) return
      await unlessInterrupted(this.#join(node))
      this.#observer.onStart(index + 1, churn.initial.length)
    }
    for (const client of this.#system.clients) this.clients.begin(client, pauseOf(client.name))
    const work = Promise.all([this.#carryOut(churn, over), this.#lookAgainAndAgain(over)])
    await Promise.race([work, this.cluster.failed, onceAborted(signal)])
  }

  /** @throws UsageError for a node that is not there */
  async act(action: Action): Promise<void> {
    const happening = describe(action)
    const atMs = this.elapsedMs
    switch (action.does) {
      case 'join':
        await this.#join(action.node)
        break
      case 'leave':
        await this.cluster.leave(action.node, action.manner)
        break
      case 'restart':
        await this.cluster.leave(action.node, 'kill')
        await this.#join(action.node)
        break
      case 'partition':
        await this.cluster.partition(action.groups)
        break
      case 'heal':
        await this.cluster.heal()
        break
      case 'reset':
        this.cluster.reset(action.node, action.peer)
        break
      case 'set':
        await this.cluster.set(action.ways)
        break
    }
    this.#note({ ...happening, atMs, isCrash: false })
  }

  async close(): Promise<void> {
    this.clients.close()
    this.#looks.close()
    await this.cluster.close()
  }

  async #join(name: string): Promise<void> {
    await this.cluster.join(name)
    this.measurements.started(name, this.elapsedMs)
  }

  async #carryOut({ events }: ChurnPlan, over: AbortSignal): Promise<void> {
    // A program that takes its time to end does not put off what comes next.
    const underWay: Promise<void>[] = []
    for (const { atMs, ...action } of events) {
      if (!(await this.#until(atMs, over))) break
      underWay.push(this.act(action))
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
    this.#observer.onLook(look, atMs, this.#evaluate(look, atMs))
  }

  #evaluate(look: Look, atMs: number): Readonly<Record<string, boolean>> {
    try {
      return this.measurements.looked(look, atMs)
    } catch (cause) {
      throw new ConfigError([`properties: a property threw ${cause}`], { cause })
    }
  }

  /** Whether that time came before the end. */
  async #until(atMs: number, over: AbortSignal): Promise<boolean> {
    await sleep(Math.max(0, atMs - this.elapsedMs), undefined, { signal: over }).catch(() => undefined)
    return !over.aborted
  }

  #noteEnd({ name }: LiveNode, ending: Ending): void {
    const how = 'code' in ending ? `ended with code ${ending.code}` : `was killed by signal ${ending.signal}`
    const isCrash = !('code' in ending && ending.code === 0)
    this.#note({ atMs: this.elapsedMs, kind: 'fault', node: name, label: `${name} ${how}`, isCrash })
  }

  #note(happening: Happening): void {
    this.measurements.happened(happening)
    this.#observer.onHappening(happening)
  }
}

const onceAborted = (signal: AbortSignal) =>
  new Promise<void>(resolve => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))

const describe = (action: Action): Pick<Happening, 'kind' | 'label' | 'node'> => {
  switch (action.does) {
    case 'join':
      return { kind: 'repair', label: `${action.node} joins`, node: action.node }
    case 'leave':
      return { kind: 'fault', label: `${action.node} leaves (${action.manner})`, node: action.node }
    case 'restart':
      return { kind: 'fault', label: `${action.node} restarts`, node: action.node }
    case 'partition':
      return {
        kind: 'fault',
        label: `partition ${action.groups.map(group => group.join(',')).join(' ')}`,
        node: undefined,
      }
    case 'heal':
      return { kind: 'repair', label: 'heal', node: undefined }
    case 'reset':
      return { kind: 'fault', label: `connections of ${action.node} and ${action.peer} are reset`, node: action.node }
    case 'set':
      return {
        kind: action.ways.some(isHarm) ? 'fault' : 'repair',
        label: action.ways.map(describeWay).join('; '),
        node: undefined,
      }
  }
}

const isHarm = ({ isCut, pipe }: WaySetting) => isCut === true || (pipe !== undefined && pipe !== null)

const describeWay = ({ from, to, isCut, pipe }: WaySetting) => {
  const cut = isCut === undefined ? [] : [isCut ? 'cut' : 'joined']
  const laid = pipe === undefined ? [] : [pipe === null ? 'as it was' : settingsOf(pipe)]
  return `${from}→${to} ${[...cut, ...laid].join(', ')}`
}

const settingsOf = (pipe: PipeSettings) =>
  Object.entries(pipe)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ')
