import type { Message } from '../../proxy/message.ts'
import type { Way } from '../../proxy/way.ts'
import { millisecond, type Nanoseconds } from '../hold/virtual-clock.ts'
import type { Happening } from './action.ts'
import { Agenda } from './agenda.ts'
import { Flow } from './flow.ts'
import { type LinkChange, Links, noTopology } from './links.ts'
import { Reach } from './reach.ts'
import type { TimedAction, Timing, WaySetting } from './timing.ts'
import { keep } from './way-settings.ts'
import { type Carry, type PacketCounts, Ways } from './ways.ts'

/** A program that is asked to end is killed after so long. */
const graceMs = 5000
/** Headers of IP and UDP. */
const datagramHeaderBytes = 28
/** A kernel sends something again after so long, and then twice as long each time. */
const againMs = 200

/** A message on its way. */
interface Sent {
  readonly atMs: number
  /** When it arrives; when it is lost, where it does not. Undefined while that depends on what is still to come. */
  dueMs: number | undefined
  isLost: boolean
  /** That carries it; undefined for a datagram. */
  readonly flow: Flow | undefined
}

/**
 * The time of one execution of a system that time runs through: what it is now, and when what is under way is due. One
 * clock counts; those of the nodes follow it, with their offset and drift. Times are milliseconds since the start.
 */
export class Time {
  readonly timing: Timing
  /** What packets and senders do next; never further than the next step could be. */
  readonly #agenda = new Agenda()
  readonly #ways: Ways
  readonly #names: readonly string[]
  readonly #reach: Reach
  readonly #links: Links | undefined
  #nowMs = 0
  /** What the last step was about, where that was a plan, or somebody asked for it. */
  #happened: TimedAction | undefined
  #isAsked = false
  /** By label. */
  readonly #sent = new Map<string, Sent>()
  /** By direction of a connection. */
  readonly #flows = new Map<string, Flow>()
  /** How much of each list has happened. */
  readonly #done = { events: 0, inputs: 0 }
  readonly #inputs: TimedAction[]
  /** Nodes that were asked to end, and when they are killed. */
  readonly #leaving = new Map<string, number>()
  /** Those whose links were taken away. */
  readonly #unplugged = new Set<string>()
  /** When each client's last call ended. */
  readonly #paused = new Map<string, number>()
  /** What the node's clock is ahead at the start: least of all 0, for none goes back. */
  readonly #offsetMs: ReadonlyMap<string, number>
  /** What is laid on ways, by `from→to`. */
  readonly #settings = new Map<string, WaySetting>()
  #groups: readonly (readonly string[])[] | null = null

  /** @param names of the nodes, in their order */
  constructor(timing: Timing, names: readonly string[]) {
    this.timing = timing
    this.#names = names
    this.#inputs = [...timing.inputs]
    this.#ways = new Ways(timing.wiring, names, this.#agenda)
    this.#reach = new Reach(names.length)
    const { links, routes } = timing.wiring
    this.#links = links && new Links(links, routes)
    const offset = (name: string) => timing.clocks[name]?.offsetMs ?? 0
    const least = Math.min(0, ...names.map(offset))
    this.#offsetMs = new Map(names.map(name => [name, offset(name) - least]))
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** What the last step did because somebody asked for it. */
  get asked(): TimedAction | undefined {
    return this.#isAsked ? this.#happened : undefined
  }

  /** What the last step was about, where that was planned or asked for. */
  get happened(): TimedAction | undefined {
    return this.#happened
  }

  /** The step of this index begins: at the time that was recorded of it, or no earlier than it is due. */
  begin(stepIndex: number, dueMs: number | undefined): void {
    this.#happened = undefined
    this.#isAsked = false
    const recorded = this.timing.timesMs?.[stepIndex]
    this.pass(recorded ?? dueMs ?? 0)
  }

  /** Time passes; packets go on, and nothing else happens. */
  pass(toMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, rounded(toMs))
    this.#agenda.doUntil(this.#nowMs)
  }

  /** What became of packets so far. */
  get counts(): PacketCounts {
    return this.#ways.counts
  }

  /** What the clock of a node shows now, in time elapsed. */
  clockOf(name: string): Nanoseconds {
    return Math.round((this.#nowMs * this.#rate(name) + this.#offsetMs.get(name)!) * millisecond)
  }

  /** When the clock of a node shows this. */
  whenShown(name: string, elapsed: Nanoseconds): number {
    return rounded((elapsed / millisecond - this.#offsetMs.get(name)!) / this.#rate(name))
  }

  #rate(name: string): number {
    return 1 + (this.timing.clocks[name]?.driftPpm ?? 0) / 1e6
  }

  // Messages

  /** Takes note of what a step sent, now. */
  send(messages: readonly Message[]): void {
    for (const message of messages) this.#send(message)
  }

  #send(message: Message): void {
    const { from, to, transport, kind, bytes, label } = message
    const atMs = this.#nowMs
    const flow = transport === 'udp' ? undefined : this.#flowOf(message)
    const sent: Sent = { atMs, dueMs: undefined, isLost: false, flow }
    this.#sent.set(label, sent)
    const comes = (isLost: boolean) => (at: number) => {
      sent.dueMs ??= rounded(at)
      sent.isLost = isLost
    }
    if (flow === undefined)
      this.#ways.carry(from, to, atMs, bytes.length + datagramHeaderBytes, comes(false), comes(true))
    else flow.send(kind === 'data' ? bytes.length : 1, atMs, comes(false))
  }

  #flowOf(message: Message): Flow {
    const key = directionOf(message)
    const isNew = message.kind === 'open' || message.kind === 'accept'
    const known = isNew ? undefined : this.#flows.get(key)
    if (known) return known
    const { from, to } = message
    const carry =
      (one: string, other: string): Carry =>
      (...packet) =>
        this.#ways.carry(one, other, ...packet)
    const flow = new Flow(this.#agenda, carry(from, to), carry(to, from))
    this.#flows.set(key, flow)
    return flow
  }

  /**
   * Lets packets go on until it is known when the first of these messages arrives, or until then.
   *
   * @param untilMs when something else happens, for that may change what becomes of them
   */
  foresee(untilMs: number, messages: readonly Message[]): void {
    const awaited = messages.flatMap(({ label }) => this.#sent.get(label) ?? [])
    const firstMs = () => awaited.reduce((least, { dueMs = least }) => Math.min(least, dueMs), untilMs)
    let endMs = firstMs()
    const isAwaited = (sent: Sent) => sent.dueMs === undefined
    let unknown = awaited.filter(isAwaited)
    while (unknown.length > 0 && this.#agenda.hasUntil(endMs)) {
      this.#agenda.doNext()
      if (unknown.every(isAwaited)) continue
      unknown = unknown.filter(isAwaited)
      endMs = firstMs()
    }
  }

  /** When a message arrives, or is known to be lost; undefined for one of before. */
  sentOf({ label }: Message): Readonly<Sent> | undefined {
    return this.#sent.get(label)
  }

  /** Messages are on their way no more: they have been taken, or their connections are gone. */
  forget(taken: readonly string[], gone: readonly string[]): void {
    for (const label of gone) this.#sent.get(label)?.flow?.end()
    for (const label of [...taken, ...gone]) this.#sent.delete(label)
  }

  /** What could not pass until now can: a kernel sends it again when its next time-out is over. */
  passableAgain(messages: readonly Message[]): void {
    for (const { label, transport, kind, from, to } of messages) {
      const sent = this.#sent.get(label)
      if (sent?.dueMs === undefined || transport === 'udp' || sent.dueMs > this.#nowMs) continue
      let wait = kind === 'open' ? 1000 : againMs + this.#ways.delayMs(from, to) + this.#ways.delayMs(to, from)
      let at = sent.atMs + wait
      while (at < this.#nowMs) at += wait *= 2
      sent.dueMs = rounded(at + this.#ways.delayMs(from, to))
    }
  }

  // What happens to the system

  /** What happens next by the plan, and by whoever asked for something. */
  coming(): readonly TimedAction[] {
    const { events, inputs } = this.#done
    const planned = [this.timing.events[events], this.#inputs[inputs]].filter(action => action !== undefined)
    const killed = [...this.#leaving].map(([node, atMs]) => ({ atMs, does: 'leave', node, manner: 'kill' }) as const)
    return [...planned, ...killed]
  }

  /** It happens. */
  happens(action: TimedAction): void {
    this.#happened = action
    if (action === this.timing.events[this.#done.events]) this.#done.events += 1
    else if (action === this.#inputs[this.#done.inputs]) {
      this.#done.inputs += 1
      this.#isAsked = true
    }
  }

  /** Somebody asks for something: it happens now, or after the last packet whose fate has been foreseen. */
  ask(action: Happening): TimedAction {
    const asked = { ...action, atMs: Math.max(this.#nowMs, rounded(this.#agenda.nowMs)) } as TimedAction
    this.#inputs.push(asked)
    return asked
  }

  /** Whether a node ends because it was asked to. */
  isLeaving(name: string): boolean {
    return this.#leaving.has(name)
  }

  leaves(name: string): void {
    this.#leaving.set(name, this.#nowMs + graceMs)
  }

  hasLeft(name: string): void {
    this.#leaving.delete(name)
  }

  // Clients

  /** When a client calls next; undefined while it waits for an answer. */
  callDueMs(client: string): number {
    const ended = this.#paused.get(client)
    return ended === undefined ? 0 : ended + (this.timing.pausesMs[client] ?? 0)
  }

  called(client: string): void {
    this.#paused.set(client, this.#nowMs)
  }

  // Ways

  /** What was laid on ways and not taken away. */
  settings(): readonly WaySetting[] {
    return [...this.#settings.values()]
  }

  /** Of the partition that there is; null where there is none. */
  get groups(): readonly (readonly string[])[] | null {
    return this.#groups
  }

  isUnplugged(name: string): boolean {
    return this.#unplugged.has(name)
  }

  unplug(name: string, isOut: boolean): void {
    if (isOut) this.#unplugged.add(name)
    else this.#unplugged.delete(name)
    this.#reach.cutNode(this.#names.indexOf(name), isOut)
  }

  partition(groups: readonly (readonly string[])[] | undefined): void {
    this.#groups = groups ?? null
    if (groups === undefined) this.#reach.heal()
    else this.#reach.partition(groups.map(group => group.map(name => this.#names.indexOf(name))))
  }

  set(setting: WaySetting): void {
    const { from, to, isCut, pipe } = setting
    keep(this.#settings, setting)
    if (isCut !== undefined) this.#reach.cutWay(this.#names.indexOf(from), this.#names.indexOf(to), isCut)
    if (pipe !== undefined) this.#ways.lay(from, to, pipe ?? undefined)
  }

  /** A link of the topology does something else to packets. @throws UsageError as `requireLink` */
  changeLink(change: LinkChange): void {
    this.requireLink(change)
    const { pipes, ways } = this.#links!.change(change)
    this.#ways.change(pipes)
    for (const { from, to, isBroken } of ways) this.#reach.breakWay(from, to, isBroken)
  }

  /** @throws UsageError for a link that cannot be changed so */
  requireLink(change: LinkChange): void {
    if (this.#links === undefined) throw noTopology()
    this.#links.require(change)
  }

  /** Ways that are cut, and that are joined again, since this was last asked. */
  changedWays(): { readonly cut: readonly Way[]; readonly joined: readonly Way[] } {
    const changes = this.#reach.changes().map(({ from, to, isCut }) => ({
      way: [this.#names[from]!, this.#names[to]!] as const,
      isCut,
    }))
    const those = (wanted: boolean) => changes.filter(({ isCut }) => isCut === wanted).map(({ way }) => way)
    return { cut: those(true), joined: those(false) }
  }
}

/** A nanosecond is the least that counts. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * millisecond) / millisecond

const directionOf = ({ from, to, port, connection }: Message): string => `${from}→${to} ${port} ${connection}`
