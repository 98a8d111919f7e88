import { pacedSendBuffer } from '../../linux/namespace.ts'
import type { ConnectionNames } from '../../proxy/end.ts'
import type { Message } from '../../proxy/message.ts'
import type { Way } from '../../proxy/way.ts'
import { millisecond, type Nanoseconds } from '../hold/clock/virtual-clock.ts'
import { Agenda } from './agenda.ts'
import { Copies } from './copies.ts'
import { Flow } from './flow.ts'
import { type LinkChange, Links, noTopology } from './links.ts'
import type { LinkTotal } from './loads.ts'
import { Reach } from './reach.ts'
import { Standstills } from './standstills.ts'
import type { Happening, RunSoFar, TimedHappening, Timing, WaySetting } from './timing.ts'
import { mergeSetting } from './way-settings.ts'
import { type Awaiting, type PacketCounts, Ways } from './ways.ts'

/**
 * Milliseconds from a request to end until the program is killed. Longer would let a program that ignores it run on.
 */
const graceMs = 5000
/** Headers of IP and UDP, or of IP and ICMP. */
const datagramHeaderBytes = 28
/**
 * A kernel sends no segment that is longer than half of the largest window that it has seen. That must not depend on how much of
 * a first window was used, so it has room for two segments of 64 KiB, and for what a program sends before it knows of a window.
 */
const leastRoom = 192 * 1024
/** Milliseconds until a kernel's first retransmission; each further one takes twice as long. */
const againMs = 200

/** A message in flight. */
class Sent implements Awaiting {
  readonly atMs: number
  /** The flow that carries it; undefined for a datagram. */
  readonly flow: Flow | undefined
  /** When it arrives, or is lost. Undefined while that depends on later events. */
  dueMs: number | undefined
  isLost = false

  constructor(atMs: number, flow: Flow | undefined) {
    this.atMs = atMs
    this.flow = flow
  }

  copy(copies: Copies): Sent {
    const made = new Sent(this.atMs, this.flow && copies.of(this.flow))
    made.dueMs = this.dueMs
    made.isLost = this.isLost
    return made
  }

  arrived(atMs: number): void {
    this.dueMs ??= rounded(atMs)
    this.isLost = false
  }

  wasLost(atMs: number): void {
    this.dueMs ??= rounded(atMs)
    this.isLost = true
  }
}

/**
 * The time of one timed execution: the present, and when pending events are due. One clock decides; the nodes' clocks
 * follow it, with their offset and drift. Times are milliseconds since the start.
 */
export class Time {
  readonly timing: Timing
  /** What packets and senders do next; never further ahead than the next step could be. */
  readonly #agenda: Agenda
  readonly #ways: Ways
  readonly #names: readonly string[]
  readonly #reach: Reach
  readonly #links: Links | undefined
  readonly #standstills: Standstills
  #nowMs = 0
  /** What the last step did, if that was planned or requested. */
  #happened: TimedHappening | undefined
  #isAsked = false
  /** By label. */
  readonly #sent = new Map<string, Sent>()
  /** By direction of a connection. */
  readonly #flows = new Map<string, Flow>()
  /** How many entries of each list have happened. */
  readonly #done = { events: 0, inputs: 0 }
  readonly #inputs: TimedHappening[]
  /** When each step is executed, if it repeats a run. */
  #timesMs: RunSoFar['timesMs']
  /** Nodes that were asked to end, and when they are killed. */
  readonly #leaving = new Map<string, number>()
  /** Nodes whose links were taken away. */
  readonly #unplugged = new Set<string>()
  /** When each client's last call ended. */
  readonly #paused = new Map<string, number>()
  /** Until when clients must not call. */
  readonly #waiting = new Map<string, number>()
  /** How far each node's clock is ahead at the start; at least 0, because no clock can be set back. */
  readonly #offsetMs: ReadonlyMap<string, number>
  /** Settings of ways, by `from→to`. */
  readonly #settings = new Map<string, WaySetting>()
  #groups: readonly (readonly string[])[] | null = null

  /**
   * @param names of the nodes, in their order
   *
   * @param of another one with this timing: its parts at present
   */
  constructor(
    timing: Timing,
    names: readonly string[],
    of?: {
      readonly agenda: Agenda
      readonly ways: Ways
      readonly reach: Reach
      readonly links: Links | undefined
      readonly standstills: Standstills
    },
  ) {
    const { wiring } = timing
    this.timing = timing
    this.#names = names
    this.#inputs = [...timing.inputs]
    this.#timesMs = timing.timesMs
    this.#agenda = of?.agenda ?? new Agenda()
    this.#ways = of?.ways ?? new Ways(wiring, names, this.#agenda)
    this.#reach = of?.reach ?? new Reach(names.length)
    this.#standstills = of?.standstills ?? new Standstills()
    this.#links = of ? of.links : wiring.links && new Links(wiring.links, wiring.routes)
    const offset = (name: string) => timing.clocks[name]?.offsetMs ?? 0
    const least = Math.min(0, ...names.map(offset))
    this.#offsetMs = new Map(names.map(name => [name, offset(name) - least]))
  }

  /** Another one in the same state. */
  copy(): Time {
    const copies = new Copies()
    // What is on the agenda refers to all else.
    const agenda = copies.of(this.#agenda)
    const parts = {
      agenda,
      ways: copies.of(this.#ways),
      reach: this.#reach.copy(),
      links: this.#links?.copy(),
      standstills: this.#standstills.copy(),
    }
    const made = new Time(this.timing, this.#names, parts)
    for (const [label, sent] of this.#sent) made.#sent.set(label, copies.of(sent))
    for (const [direction, flow] of this.#flows) made.#flows.set(direction, copies.of(flow))
    return this.#tell(made)
  }

  /** What one of its nodes needs of it while a search delivers its messages: no packets, and no ways for them. */
  forNodeAlone(): Time {
    const agenda = new Agenda()
    const wiring = { ...this.timing.wiring, pipes: [], routes: [] }
    const parts = {
      agenda,
      ways: new Ways({ seed: wiring.seed, pipes: [], routes: [] }, this.#names, agenda),
      reach: this.#reach.copy(),
      links: undefined,
      standstills: this.#standstills.copy(),
    }
    return this.#tell(new Time({ ...this.timing, wiring }, this.#names, parts))
  }

  /** Copies the present state to another `Time`, without the packets. */
  #tell(made: Time): Time {
    made.#nowMs = this.#nowMs
    made.#happened = this.#happened
    made.#isAsked = this.#isAsked
    Object.assign(made.#done, this.#done)
    made.#inputs.splice(0, made.#inputs.length, ...this.#inputs)
    made.#timesMs = this.#timesMs
    for (const [name, atMs] of this.#leaving) made.#leaving.set(name, atMs)
    for (const name of this.#unplugged) made.#unplugged.add(name)
    for (const [client, atMs] of this.#paused) made.#paused.set(client, atMs)
    for (const [client, untilMs] of this.#waiting) made.#waiting.set(client, untilMs)
    for (const [way, setting] of this.#settings) made.#settings.set(way, setting)
    made.#groups = this.#groups
    return made
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** What the last step did, if somebody requested it. */
  get asked(): TimedHappening | undefined {
    return this.#isAsked ? this.#happened : undefined
  }

  /** What the last step did, if that was planned or requested. */
  get happened(): TimedHappening | undefined {
    return this.#happened
  }

  /**
   * Begins a step at its recorded time, or not before it is due.
   *
   * @param stepIndex from 1; undefined for a step that was not recorded
   */
  begin(stepIndex: number | undefined, dueMs: number | undefined): void {
    this.#happened = undefined
    this.#isAsked = false
    const recorded = stepIndex === undefined ? undefined : this.#timesMs?.[stepIndex]
    this.pass(recorded ?? dueMs ?? 0)
  }

  /** Passes time: packets go on, and nothing else happens. */
  pass(toMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, rounded(toMs))
    this.#agenda.doUntil(this.#nowMs)
  }

  /** What happened to packets so far. */
  get counts(): PacketCounts {
    return this.#ways.counts
  }

  /** What each link has carried so far; none without a topology. */
  get carried(): readonly LinkTotal[] {
    return this.#links?.carried(this.#ways.carried) ?? []
  }

  /** What a node's clock shows now, as time elapsed. */
  clockOf(name: string): Nanoseconds {
    const ranMs = this.#standstills.ranMs(name, this.#nowMs)
    return Math.round((ranMs * this.#rate(name) + this.#offsetMs.get(name)!) * millisecond)
  }

  /** When a node's clock shows this time. */
  whenShown(name: string, elapsed: Nanoseconds): number {
    const ranMs = (elapsed / millisecond - this.#offsetMs.get(name)!) / this.#rate(name)
    return rounded(this.#standstills.whenRan(name, ranMs))
  }

  /** Lets a node stand still from now on: its clock does not move, and it takes no input. */
  standStill(name: string, forMs: number): void {
    this.#standstills.add(name, this.#nowMs, forMs)
  }

  #rate(name: string): number {
    return 1 + (this.timing.clocks[name]?.driftPpm ?? 0) / 1e6
  }

  // Messages

  /** Notes the messages that a step sent now. */
  send(messages: readonly Message[]): void {
    for (const message of messages) this.#send(message)
  }

  #send(message: Message): void {
    const { from, to, transport, kind, bytes, label, end } = message
    const atMs = this.#nowMs
    const flow = transport === 'udp' ? undefined : this.#flowOf(message)
    const sent = new Sent(atMs, flow)
    this.#sent.set(label, sent)
    if (end) this.#ways.turn(from, end, atMs, datagramHeaderBytes, sent)
    else if (flow === undefined) this.#ways.carry(from, to, atMs, bytes.length + datagramHeaderBytes, sent)
    else flow.send(kind === 'data' ? bytes.length : 1, atMs, sent)
  }

  #flowOf(message: Message): Flow {
    const { from, to, port, opener = from, connection } = message
    const key = directionOf([from, to], { port, opener, number: connection })
    const isNew = message.kind === 'open' || message.kind === 'accept'
    const known = isNew ? undefined : this.#flows.get(key)
    if (known) return known
    const flow = new Flow(this.#agenda, this.#ways.carrier(from, to), this.#ways.carrier(to, from))
    this.#flows.set(key, flow)
    return flow
  }

  /**
   * Moves packets on until it is known when the first of these messages arrives, but not beyond `untilMs`.
   *
   * @param untilMs when something else happens, which may change what happens to the messages
   */
  foresee(untilMs: number, messages: readonly Message[]): void {
    const awaited = messages.filter(({ label }) => this.#sent.has(label))
    const firstMs = () => awaited.reduce((least, message) => Math.min(least, this.reachesMs(message) ?? least), untilMs)
    let endMs = firstMs()
    const isAwaited = ({ label }: Message) => this.#sent.get(label)!.dueMs === undefined
    let unknown = awaited.filter(isAwaited)
    while (unknown.length > 0 && this.#agenda.hasUntil(endMs)) {
      this.#agenda.doNext()
      if (unknown.every(isAwaited)) continue
      unknown = unknown.filter(isAwaited)
      endMs = firstMs()
    }
  }

  /** When a message arrives or is lost; undefined for a message from before the timed execution. */
  sentOf({ label }: Message): Readonly<Sent> | undefined {
    return this.#sent.get(label)
  }

  /** When its receiver takes the message, or it is lost; undefined as long as that is not known. */
  reachesMs({ label, to }: Message): number | undefined {
    const sent = this.#sent.get(label)
    if (sent?.dueMs === undefined || sent.isLost) return sent?.dueMs
    return this.#standstills.takenMs(to, sent.dueMs)
  }

  /** Forgets messages that are no longer in flight: they were taken, or their connections are gone. */
  forget(taken: readonly string[], gone: readonly string[]): void {
    for (const label of gone) this.#sent.get(label)?.flow?.end()
    for (const label of [...taken, ...gone]) this.#sent.delete(label)
  }

  /** How many bytes a program may have under way on a connection, besides what its kernel keeps. */
  roomOf(way: Way, names: ConnectionNames): number {
    const bufferBytes = this.#flows.get(directionOf(way, names))?.bufferBytes ?? 0
    return Math.max(bufferBytes - pacedSendBuffer, leastRoom)
  }

  /** Forgets connections of which no message will come any more. */
  forgetConnections(over: readonly ConnectionNames[]): void {
    for (const names of over) {
      const { opener, listener } = names
      this.#flows.delete(directionOf([opener, listener], names))
      this.#flows.delete(directionOf([listener, opener], names))
    }
  }

  /** A cut has ended for these messages: each is sent again when its kernel's next time-out is over. */
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

  /** What happens next according to plan and requests. */
  coming(): readonly TimedHappening[] {
    const { events, inputs } = this.#done
    const planned = [this.timing.events[events], this.#inputs[inputs]].filter(happening => happening !== undefined)
    const killed = [...this.#leaving].map(([node, atMs]) => ({ atMs, does: 'leave', node, manner: 'kill' }) as const)
    return [...planned, ...killed]
  }

  /** Notes that it happens now. */
  happens(happening: TimedHappening): void {
    this.#happened = happening
    if (happening === this.timing.events[this.#done.events]) this.#done.events += 1
    else if (happening === this.#inputs[this.#done.inputs]) {
      this.#done.inputs += 1
      this.#isAsked = true
    }
  }

  /** Requests that something happens: now, or after the last packet whose arrival has been foreseen. */
  ask(happening: Happening): TimedHappening {
    const asked = this.#now(happening)
    this.#inputs.push(asked)
    return asked
  }

  /** Requests that something happens before all others that were requested and have not happened. */
  askFirst(happening: Happening): TimedHappening {
    const asked = this.#now(happening)
    this.#inputs.splice(this.#done.inputs, 0, asked)
    return asked
  }

  /** Takes back a request that has not happened. */
  withdraw(asked: TimedHappening): void {
    this.#inputs.splice(this.#inputs.indexOf(asked), 1)
  }

  /** All that was requested so far. */
  get requested(): readonly TimedHappening[] {
    return [...this.#inputs]
  }

  /**
   * Takes over the recorded requests and times of a run that is about to be repeated from here. The present requests
   * are the beginning of those.
   */
  takeUp({ requested, timesMs }: RunSoFar): void {
    this.#inputs.splice(0, this.#inputs.length, ...requested)
    this.#timesMs = timesMs
  }

  #now(happening: Happening): TimedHappening {
    // Rounded up: a replay must not let it happen before a packet whose arrival was foreseen when it was requested.
    const foreseenMs = Math.ceil(this.#agenda.nowMs * millisecond) / millisecond
    return { ...happening, atMs: Math.max(this.#nowMs, foreseenMs) } as TimedHappening
  }

  /** Whether a node was asked to end and has not ended. */
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

  /**
   * When a client calls next, in ms of the run. Not while a node stands still, because the client might call that node.
   */
  callDueMs(client: string): number {
    const ended = this.#paused.get(client)
    const dueMs = ended === undefined ? 0 : ended + (this.timing.pausesMs[client] ?? 0)
    return Math.max(dueMs, this.#waiting.get(client) ?? 0, this.#standstills.lastEndMs)
  }

  /** Lets a client call later. */
  makeWait(client: string, forMs: number): void {
    this.#waiting.set(client, this.#nowMs + forMs)
  }

  called(client: string): void {
    this.#paused.set(client, this.#nowMs)
  }

  // Ways

  /** Settings of ways that are in effect. */
  settings(): readonly WaySetting[] {
    return [...this.#settings.values()]
  }

  /** How links differ from what they were at the start. */
  get linkChanges(): readonly LinkChange[] {
    return this.#links?.changes ?? []
  }

  /** Groups of the present partition; null if there is none. */
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
    mergeSetting(this.#settings, setting)
    if (isCut !== undefined) this.#reach.cutWay(this.#names.indexOf(from), this.#names.indexOf(to), isCut)
    if (pipe !== undefined) this.#ways.lay(from, to, pipe ?? undefined)
  }

  /** Changes a link's effect on packets. @throws UsageError as `requireLink` */
  changeLink(change: LinkChange): void {
    this.requireLink(change)
    const { pipes, ways } = this.#links!.change(change)
    this.#ways.change(pipes, this.#nowMs)
    for (const { from, to, isBroken } of ways) this.#reach.breakWay(from, to, isBroken)
  }

  /** @throws UsageError for a link that does not exist or a change that it does not allow */
  requireLink(change: LinkChange): void {
    if (this.#links === undefined) throw noTopology()
    this.#links.require(change)
  }

  /** Ways that were cut, and ways that were joined, since the last call. */
  changedWays(): { readonly cut: readonly Way[]; readonly joined: readonly Way[] } {
    const changes = this.#reach.changes().map(({ from, to, isCut }) => ({
      way: [this.#names[from]!, this.#names[to]!] as const,
      isCut,
    }))
    const those = (wanted: boolean) => changes.filter(({ isCut }) => isCut === wanted).map(({ way }) => way)
    return { cut: those(true), joined: those(false) }
  }
}

/** Rounds to nanoseconds, the resolution of all clocks. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * millisecond) / millisecond

const directionOf = ([from, to]: Way, { port, opener, number }: Pick<ConnectionNames, 'port' | 'opener' | 'number'>) =>
  `${from}→${to} ${port} ${opener} ${number}`
