import { namesIn } from '../../checker/happening/happenings.ts'
import { isStrike } from '../../checker/happening/strikes.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { ChurnEvent } from '../../topologies/churn/plan.ts'
import { execOf } from '../clients/clients.ts'
import { noNode } from '../clients/state.ts'
import type { Cluster } from '../cluster.ts'
import type { ClientCall, ExecResult } from '../config/config.ts'
import { Planned } from '../timed/planned.ts'
import type { Happening, Pace, TimedHappening } from '../timed/timing.ts'

/** Somebody who waits until what was requested has happened. */
interface Asked {
  readonly happening: TimedHappening
  readonly done: () => void
}

/** Somebody who waits until a call ends. */
interface Awaited {
  readonly client: string
  readonly ordinal: number
  readonly tell: (call: ClientCall | undefined) => void
}

/** The actions that somebody requests while a system runs, until they were executed. */
export class Requests {
  /** Called for each request. */
  onRequest: () => void = () => undefined
  readonly planned = new Planned()
  readonly #cluster: Cluster
  readonly #pace: Pace
  /** Not yet part of the run. */
  readonly #requested: { readonly happening: Happening; readonly done: () => void }[] = []
  readonly #asked: Asked[] = []
  #awaited: Awaited[] = []
  /** By client, the number of programs run in its node. */
  readonly #programs = new Map<string, number>()

  constructor(cluster: Cluster, pace: Pace) {
    this.#cluster = cluster
    this.#pace = pace
  }

  /** Whether any is not yet part of the run. */
  get isPending(): boolean {
    return this.#requested.length > 0
  }

  /**
   * Requests that something happens. Resolves when it has happened, or the run is over.
   *
   * @throws UsageError for an unknown node or link, and for what this pace cannot do
   */
  async act(happening: Happening): Promise<void> {
    this.#require(happening)
    await new Promise<void>(done => {
      this.#requested.push({ happening, done })
      this.onRequest()
    })
  }

  /**
   * Replaces what was planned by requests and has not happened.
   *
   * @throws UsageError as `act`, and for an event in the past
   */
  plan(events: readonly ChurnEvent[], nowMs: number): void {
    for (const event of events) this.#require(event)
    this.planned.put(events, nowMs)
    this.onRequest()
  }

  #require(happening: Happening): void {
    const names = this.#cluster.views.map(({ name }) => ({ name }))
    for (const name of namesIn(happening))
      if (!names.some(each => each.name === name)) throw new UsageError(noNode(name, names))
    if (happening.does === 'link') this.#cluster.running.time!.requireLink(happening)
    const wrongName = happening.does === 'name' ? this.#cluster.running.wrongNameIn(happening) : undefined
    if (wrongName !== undefined) throw new UsageError(wrongName)
    this.#requireStrike(happening)
    if (happening.does === 'set' && happening.ways.some(({ pipe }) => (pipe?.duplicate ?? 0) > 0))
      throw new UsageError(`packets come twice (--duplicate) at the pace native alone, this run is at ${this.#pace}`)
  }

  /** @throws UsageError if the run did not begin so that this may strike a node */
  #requireStrike(happening: Happening): void {
    if (!isStrike(happening.does) || !('node' in happening)) return
    if (this.#cluster.running.stopsFor(happening.node, happening.does)) return
    const asks = happening.does === 'preempt' ? 'threads: 1' : `faults: { ${happening.does}: 1 }`
    throw new UsageError(
      `${happening.node} does not stop at the system calls at which "${happening.does}" strikes: the configuration asks for that by ${asks}, or a plan by such an event; a container never does`,
    )
  }

  /**
   * Runs a program in a node like a client call, so that a replay of the run repeats it.
   *
   * @throws UsageError for a node that is unknown or down, and a program that does not end
   */
  async exec(node: string, command: readonly string[]): Promise<ExecResult> {
    const client = execOf(node)
    // If several programs wait in one node, each gets its own answer.
    const ordinal = 1 + (this.#programs.get(client) ?? 0)
    this.#programs.set(client, ordinal)
    const over = new Promise<ClientCall | undefined>(tell => this.#awaited.push({ client, ordinal, tell }))
    await this.act({ does: 'exec', node, command })
    const call = await over
    if (call === undefined) throw new UsageError(`the run was over before ${command.join(' ')} was`)
    if (call.error !== undefined) throw new UsageError(call.error)
    return call.value as ExecResult
  }

  /** Between two steps: makes the requested actions due now. */
  makeDue(): void {
    for (const { happening, done } of this.#requested.splice(0))
      this.#asked.push({ happening: this.#cluster.running.time!.ask(happening), done })
    this.#cluster.running.lookAgain()
  }

  /** Makes what is planned until now due: like a request, it is part of what a replay repeats. */
  makePlannedDue(nowMs: number): void {
    for (const event of this.planned.take(nowMs)) this.#cluster.running.time!.ask(event)
    this.#cluster.running.lookAgain()
  }

  /** To be called after each step: tells whoever waits for it. */
  afterStep(): void {
    const { happened } = this.#cluster.running
    const index = this.#asked.findIndex(({ happening }) => happening === happened)
    for (const { done } of index < 0 ? [] : this.#asked.splice(index, 1)) done()
    this.#tellAwaited()
  }

  /** The run is over: nobody waits any longer. */
  close(): void {
    for (const { done } of [...this.#asked.splice(0), ...this.#requested.splice(0)]) done()
    for (const { tell } of this.#awaited.splice(0)) tell(undefined)
  }

  /** Reports programs that have ended in nodes. */
  #tellAwaited(): void {
    if (this.#awaited.length === 0) return
    const over = this.#cluster.state().calls.filter(({ completedAt }) => completedAt !== undefined)
    this.#awaited = this.#awaited.filter(({ client, ordinal, tell }) => {
      const call = over.find(each => each.client === client && each.ordinal === ordinal)
      if (call) tell(call)
      return call === undefined
    })
  }
}
