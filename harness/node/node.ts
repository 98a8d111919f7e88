import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Network } from '../../proxy/network.ts'
import type { Criu } from '../checkpoint/criu.ts'
import { CannotCheckpoint } from '../checkpoint/error.ts'
import { makeOrphans, orphansOf } from '../checkpoint/orphans.ts'
import type { NodeOutput, ResolvedNode } from '../config/config.ts'
import { Disk } from '../files/disk.ts'
import { losePower } from '../files/power-loss.ts'
import { type Nanoseconds, VirtualClock } from '../hold/clock/virtual-clock.ts'
import { HeldNode } from '../hold/held/held-node.ts'
import { Randomness } from '../hold/held/randomness.ts'
import type { StepFaultKind, StepFaults } from '../hold/held/step-faults.ts'
import { CannotRewind } from '../rewind/calls/error.ts'
import type { Facing } from '../rewind/connection.ts'
import type { Runner } from '../runner/runner.ts'
import { type PowerOutcome, powerOutcomeOf } from '../unsynced/outcomes.ts'
import { type DiskModel, Unsynced } from '../unsynced/unsynced.ts'
import { Life } from './life.ts'
import { ParkedLives } from './parked-lives.ts'
import { askingPorts, listeningPorts } from './ports.ts'
import type { NodePlan, Runtime } from './runtime.ts'
import { restoreLife, saveLife } from './saved-life.ts'
import type { MarkedDown, MarkedLife, MarkedNode, SavedNode } from './states.ts'

/** A node of the system: what stays while it is started, killed and started again. */
export class Node {
  readonly name: string
  readonly address: string
  readonly #definition: ResolvedNode
  readonly #runtime: Runtime
  readonly #runner: Runner
  readonly #directory: string
  readonly #lives = new ParkedLives()
  /** Number of disks made so far. Each life has its own. */
  #directories = 0
  #life: Life | undefined
  #isResumed = false
  #network: Network | undefined
  /** What was in flight from an earlier life when this one began. */
  #sentBefore: ReadonlySet<unknown> = new Set()
  /** While it is down: the disk of its next life; undefined for an empty one. */
  #disk: Disk | undefined
  #seed = 0
  /** Number of earlier lives in this execution. */
  #livesBefore = 0
  /** What its clock shows when it is created, in seconds since 1970. */
  readonly #clocksStart: number
  #clock: VirtualClock
  #randomness = new Randomness('')
  /** The last mark whose state it had, and the activity of its life by then. */
  #standing: { readonly marked: MarkedNode; readonly activity: string } | undefined
  /** The clocks of all nodes when it was paused; undefined while it is not. */
  #pausedAt: readonly Nanoseconds[] | undefined
  /** Whether its lives are kept at the end of their start, and lived again. */
  #isRewound: boolean
  /** Whether its own doing takes time. */
  readonly #isPaced: boolean
  /** What its disk promises of what was not synced; undefined if no power failure can come. */
  readonly #diskModel: DiskModel | undefined
  /** Which faults may strike it in the middle of a step. */
  readonly #mayStrike: ReadonlySet<StepFaultKind>

  constructor(
    { definition, address, directory, isPaced }: NodePlan,
    runtime: Runtime,
    runner: Runner,
    {
      isRewound,
      clocksStart,
      diskModel,
      mayStrike,
    }: {
      readonly isRewound: boolean
      readonly clocksStart: number
      readonly diskModel: DiskModel | undefined
      readonly mayStrike: ReadonlySet<StepFaultKind>
    },
  ) {
    this.name = definition.name
    this.address = address
    this.#definition = definition
    this.#directory = directory
    this.#runtime = runtime
    this.#runner = runner
    this.#isRewound = isRewound
    this.#isPaced = isPaced
    this.#clocksStart = clocksStart
    this.#diskModel = diskModel
    this.#mayStrike = definition.image === undefined ? mayStrike : new Set()
    this.#clock = new VirtualClock(clocksStart)
  }

  /** Its processes, while it is up or after it ended by itself. */
  get held(): HeldNode | undefined {
    return this.#life?.held
  }

  get isAlive(): boolean {
    return this.#life?.isAlive ?? false
  }

  /** The clocks of all nodes when it was paused; undefined while it is not. */
  get pausedAt(): readonly Nanoseconds[] | undefined {
    return this.#pausedAt
  }

  /** Whether its processes are stopped until it is resumed. */
  get isPaused(): boolean {
    return this.#pausedAt !== undefined
  }

  /** Stops its processes. It must be alive and quiescent. What comes to it meanwhile waits in its kernel. */
  pause(clocks: readonly Nanoseconds[]): void {
    this.#runner.freeze(this.#life!.held)
    this.#pausedAt = clocks
    this.#standing = undefined
  }

  /** Lets its processes go on. It is not quiescent yet. */
  resume(): void {
    this.#pausedAt = undefined
    this.#runner.tracer.stopped.thaw(this.#life!.held)
  }

  /** Whether a fault of this kind may strike it in the middle of a step, and none waits to do so. */
  mayStrike(kind: StepFaultKind): boolean {
    return this.#mayStrike.has(kind) && this.#life?.held.waitingFaults.get(kind) === undefined
  }

  /** Whether it stops at the system calls at which such a fault strikes. */
  stopsFor(kind: StepFaultKind): boolean {
    return this.#mayStrike.has(kind)
  }

  /** Lets a fault strike it in the middle of a step to come. It must be alive. */
  strikeLater<Kind extends StepFaultKind>(kind: Kind, fault: StepFaults[Kind]): void {
    this.#life!.held.waitingFaults.set(kind, fault)
    this.#standing = undefined
  }

  /** Ends it, if its power has failed in this step. */
  endPowerless(): void {
    const leaves = this.#life?.held.lostPower
    const { unsynced } = this
    if (leaves === undefined || unsynced === undefined) return
    this.kill('nothing', powerOutcomeOf(leaves, unsynced.operations, unsynced.model))
  }

  /** What a power failure may lose of its disk; undefined while it is down, and if none can come. */
  get unsynced(): Unsynced | undefined {
    return this.#life?.disk.unsynced
  }

  get clock(): VirtualClock {
    return this.#clock
  }

  /** How often its program was started rather than rewound. */
  get starts(): number {
    return this.#lives.count
  }

  /** Why lives could not be lived again, and how many. */
  get reasonsToStart(): ReadonlyMap<string, number> {
    return this.#lives.reasons
  }

  get workingDirectory(): string {
    return this.#runtime.workingDirectory
  }

  /** What it means if its process ends by itself. */
  get exits(): ResolvedNode['exits'] {
    return this.#definition.exits
  }

  /** Where programs are run in it; undefined while it is down. */
  get inside():
    | { readonly pid: number; readonly environment: Readonly<Record<string, string>>; readonly directory: string }
    | undefined {
    if (!this.#life?.held.pid) return undefined
    return { pid: this.#life.held.pid, environment: this.#life.place.environment, directory: this.workingDirectory }
  }

  /** Names of the nodes that must be ready before it is started. */
  get after(): readonly string[] {
    return this.#definition.after
  }

  /** Whether its start is over only when ports are open, a health check passes, or it has ended. */
  get saysReady(): boolean {
    const { listens, healthy, exits } = this.#definition
    return listens.length > 0 || healthy !== undefined || exits === 'completes'
  }

  /** Whether its start cannot be over, whatever its health check says. */
  get isUnready(): boolean {
    return this.isAlive && (this.exits === 'completes' || this.closedPorts().length > 0)
  }

  /** The program that tells whether it is healthy. */
  get healthCheck(): readonly string[] | undefined {
    return this.#definition.healthy
  }

  /** Whether its processes were rewound instead of being started. */
  get isResumed(): boolean {
    return this.#isResumed
  }

  /** Whether it can be rewound to the end of its start. */
  get isKept(): boolean {
    return this.#life?.isMarked ?? false
  }

  output(): NodeOutput {
    return { stdout: this.#life?.stdout.text ?? '', stderr: this.#life?.stderr.text ?? '' }
  }

  /** Equal only where its output is. */
  get outputEdition(): string {
    return `${this.#life?.stdout.edition ?? 0} ${this.#life?.stderr.edition ?? 0}`
  }

  /** What it added to each stream when that was last read, from the beginning of a line. */
  latestOutput(): NodeOutput {
    return { stdout: this.#life?.stdout.latest ?? '', stderr: this.#life?.stderr.latest ?? '' }
  }

  /** Reads what it wrote since the last call. */
  readOutput(): { stdout: Buffer; stderr: Buffer } {
    const nothing = Buffer.alloc(0)
    return { stdout: this.#life?.stdout.read() ?? nothing, stderr: this.#life?.stderr.read() ?? nothing }
  }

  /** Its last output, for a finding: stderr, unless that is empty. */
  lastOutput(lines: number): readonly string[] {
    this.readOutput()
    const text = this.#life?.stderr.tail(lines) || this.#life?.stdout.tail(lines) || ''
    return text === '' ? [] : text.split('\n')
  }

  /** Resets it: an empty disk, clocks and random numbers at their beginning. It must be down. */
  renew(seed: number): void {
    this.#disk?.remove()
    this.#disk = undefined
    this.#seed = seed
    this.#livesBefore = 0
    this.#clock = new VirtualClock(this.#clocksStart)
    this.#randomness = new Randomness(`${seed} ${this.name}`)
  }

  /** Prepares its next life, as far as that takes time. Await it before `attach`. */
  async prepare(): Promise<void> {
    const isParked = !this.isAnew && this.#life === undefined && this.#lives.has(this.#beginning())
    if (!isParked) await this.#runtime.prepare()
  }

  /** Whether lives begin with new processes of which nothing is kept, for now. */
  isAnew = false

  /** Whether its lives are kept and lived again. */
  get isReused(): boolean {
    return this.#isRewound && !this.isAnew
  }

  /** Attaches it to the network: its kernel exists from now on, its process not yet. */
  attach(network: Network): void {
    const beginning = this.#beginning()
    const kept = this.isAnew ? undefined : this.#lives.take(beginning)
    const life = kept ?? this.#begin(beginning)
    network.attachments.attach(this.name, this.address, life.uplink.link)
    this.#network = network
    const requests = network.messages.requestsOf(this.name).map(({ request }) => request)
    this.#sentBefore = new Set([...network.messages.datagramsOf(this.name), ...requests])
    this.#life = life
    this.#isResumed = kept !== undefined
    this.#clock = life.held.clock
    this.#randomness = life.held.randomness
  }

  /** Lets its process run; it is not quiescent yet. */
  start(): void {
    const life = this.#life!
    this.#network!.messages.resend(life.datagrams)
    life.start(this.#random)
  }

  /**
   * Called when its start is over and it is quiescent: keeps the result of the start if that will be useful.
   *
   * @returns whether it must settle again
   */
  keepStart(): boolean {
    const life = this.#life!
    if (!this.isReused || !this.#lives.isWanted(life)) return false
    if (life.held.turnsCut > 0) {
      life.leaveUnmarked('it computed for long during its start, and had to let others go first')
      return false
    }
    if (this.#hasGivenUpRequest()) {
      life.leaveUnmarked('it gave up a connection during its start')
      return false
    }
    const sent = this.#network!.messages.datagramsOf(this.name)
    life.markStart(sent.filter(datagram => !this.#sentBefore.has(datagram)))
    return true
  }

  /** Whether a request of this life for a connection is in flight that its kernel would not repeat in a rewound life. */
  #hasGivenUpRequest(): boolean {
    const requests = this.#network!.messages.requestsOf(this.name).filter(
      ({ request }) => !this.#sentBefore.has(request),
    )
    if (requests.length === 0) return false
    const asking = askingPorts(this.#life!.held.pid)
    return requests.some(({ port }) => !asking.includes(port))
  }

  /**
   * Kills it: its life ends at once. What its disk keeps is there for the next life.
   *
   * @param leaves what is left of its disk, if its power fails
   */
  kill(peersSee: 'reset' | 'nothing', leaves?: PowerOutcome): void {
    if (this.#life === undefined) return
    this.#livesBefore += 1
    this.#clock = this.#clock.copy()
    this.#randomness = this.#randomness.copy()
    this.#disk = this.#definition.disk === 'lost' ? undefined : this.#life.disk.copy(this.#newDirectory())
    if (this.#disk && leaves) losePower(this.#disk, leaves, this.#life.place.lowerOf)
    this.#end(this.#life, peersSee)
  }

  /** Ends its life, if it has one. Before the next one it must be renewed. */
  end(): void {
    if (this.#life) this.#end(this.#life, 'nothing')
  }

  /**
   * Saves its quiescent state. It must settle again afterwards.
   *
   * @param directory a new one
   *
   * @throws CannotCheckpoint
   */
  save(criu: Criu, directory: string): SavedNode {
    if (this.isPaused) throw new CannotCheckpoint(`${this.name} is paused`)
    mkdirSync(directory)
    return {
      seed: this.#seed,
      lives: this.#livesBefore,
      clock: this.#clock.copy(),
      randomness: this.#randomness.mark(),
      disk: this.#disk?.copy(join(directory, 'disk')),
      life: this.#life && saveLife(criu, this.#runner, this.#life, this.#facing, join(directory, 'life')),
    }
  }

  /**
   * Restores a saved state of this node, or of another with the same name and address. It must be down. Its processes
   * are frozen until `thaw`.
   *
   * @throws CannotCheckpoint
   */
  restore(saved: SavedNode, criu: Criu, network: Network): void {
    this.renew(saved.seed)
    this.#livesBefore = saved.lives
    this.#disk = saved.disk?.copy(this.#newDirectory())
    this.#clock = saved.clock.copy()
    this.#randomness = Randomness.from(saved.randomness)
    if (saved.life === undefined) return
    const place = this.#runner.aside(() => this.#runtime.place())
    this.#life = restoreLife(criu, this.#runner, this.name, saved.life, place, this.#newDirectory(), this.#random)
    network.attachments.attach(this.name, this.address, place.uplink.link)
    this.#network = network
    this.#clock = this.#life.held.clock
    this.#randomness = this.#life.held.randomness
  }

  /**
   * Marks its present, quiescent state, unless nothing has happened since its last mark. It must settle afterwards.
   *
   * @throws CannotRewind
   */
  mark(): MarkedNode {
    if (this.isPaused) throw inNode(this.name, new CannotRewind('it is paused'))
    const standing = this.#standing?.marked
    if (standing?.has.life && this.#standsAt(standing)) {
      standing.has.life.share(standing.has.mark)
      return standing
    }
    const has = this.#life ? this.#markLife(this.#life) : this.#markDown()
    return { seed: this.#seed, lives: this.#livesBefore, has }
  }

  #markLife(life: Life): MarkedLife {
    try {
      const orphans = orphansOf(life.held.pid, this.#facing)
      return { life, orphans, mark: life.mark(this.#facing) }
    } catch (error) {
      throw inNode(this.name, error)
    }
  }

  #markDown(): MarkedDown {
    const disk = this.#disk?.copy(this.#newDirectory())
    return { life: undefined, disk, clock: this.#clock.copy(), randomness: this.#randomness.mark() }
  }

  /** Call it when everything is quiescent in the state of this mark: the node stays there until something happens in it. */
  standAt(marked: MarkedNode): void {
    const { life } = marked.has
    this.#standing = life && { marked, activity: life.activity }
  }

  #standsAt(marked: MarkedNode): boolean {
    const { has } = marked
    if (this.#standing?.marked !== marked || has.life === undefined || this.#life !== has.life) return false
    // Its kernel gives up connections that no process has by itself, without a sign of it.
    return has.orphans.length === 0 && this.#standing.activity === has.life.activity
  }

  /** Call it when a program was run inside, which may have changed anything. */
  visit(): void {
    this.#life?.visit()
  }

  /** Whether it can probably be rewound to that mark. */
  isThere({ has }: MarkedNode): boolean {
    if (has.life === undefined) return has.disk?.isRemoved !== true
    return (has.life === this.#life || this.#lives.isParked(has.life)) && has.life.isThere(has.mark)
  }

  /**
   * Rewinds it to a mark, on this network. It is frozen until `goOn`, unless it had stayed there.
   *
   * @throws CannotRewind; it is down then, and must be renewed
   */
  goBack(marked: MarkedNode, network: Network): void {
    const { seed, lives, has } = marked
    const hasStayed = this.#standsAt(marked)
    this.#standing = undefined
    this.#pausedAt = undefined
    if (this.#life !== undefined && has.life === this.#life) this.#network!.attachments.release(this.name, 'nothing')
    else if (this.#life) this.#end(this.#life, 'nothing')
    if (has.life) this.#goBackToLife(has, hasStayed)
    this.renew(seed)
    this.#livesBefore = lives
    this.#network = network
    if (has.life) this.#continue(has.life, network)
    else this.#stayDown(has)
  }

  #goBackToLife(has: MarkedLife, hasStayed: boolean): void {
    if (has.life !== this.#life && !this.#lives.takeOut(has.life))
      throw inNode(this.name, new CannotRewind('it was ended'))
    this.#life = undefined
    if (hasStayed) has.life.stay(has.mark)
    else this.#rewind(has)
  }

  #continue(life: Life, network: Network): void {
    network.attachments.attach(this.name, this.address, life.uplink.link)
    this.#life = life
    this.#isResumed = true
    this.#clock = life.held.clock
    this.#randomness = life.held.randomness
  }

  #stayDown({ disk, clock, randomness }: MarkedDown): void {
    this.#disk = disk?.copy(this.#newDirectory())
    this.#clock = clock.copy()
    this.#randomness = Randomness.from(randomness)
  }

  /** Frees what is held for a mark. */
  discard({ has }: MarkedNode): void {
    if (has.life === undefined) {
      has.disk?.remove()
      return
    }
    has.life.forget(has.mark)
    this.#lives.hasLostMark(has.life)
  }

  #rewind({ life, mark, orphans }: MarkedLife): void {
    try {
      life.goBack(mark)
      makeOrphans(life.uplink.namespace, orphans)
    } catch (error) {
      this.#lives.discard(life)
      throw inNode(this.name, error)
    }
  }

  /** Lets it continue from the mark to which it was rewound. It is not quiescent yet. */
  goOn({ has }: MarkedNode): void {
    if (has.life?.held.frozen) has.life.goOn(has.mark)
  }

  readonly #facing: Facing = (port, peer, peerPort) => this.#network?.kernels.facing(this.name, port, peer, peerPort)

  #end(life: Life, peersSee: 'reset' | 'nothing'): void {
    // Its kernel is detached first, so that it cannot tell peers that its sockets close.
    this.#network!.attachments.release(this.name, peersSee)
    this.#life = undefined
    this.#pausedAt = undefined
    this.#lives.end(life)
  }

  /** From now on, every life begins with new processes. Kept lives must have been ended by `close`. */
  stopRewinding(): void {
    this.#isRewound = false
  }

  /** Ends the lives that wait to begin again. */
  endParkedLives(): void {
    this.#lives.endParked()
  }

  /** Ends everything that was ever started. */
  endLives(): void {
    this.#lives.close(this.#life)
    this.#life = undefined
  }

  /** Frees what lives share. All must have ended. */
  close(): void {
    this.#runtime.close()
  }

  /** Moves its clock to this elapsed time, if that is later. No timer fires by this. */
  moveClockTo(elapsed: Nanoseconds): void {
    if (elapsed <= this.#clock.elapsed) return
    if (this.#life) this.#life.held.moveClock(elapsed)
    else this.#clock.elapsed = elapsed
  }

  /** Lets its wall clock jump, forwards or back. */
  jumpClock(by: Nanoseconds): void {
    if (this.#life) this.#life.held.jumpClock(by)
    else this.#clock.jumped += by
    this.#standing = undefined
  }

  /** TCP ports that must be open at the end of its start but are not. */
  closedPorts(): number[] {
    const open = this.openPorts()
    return this.#definition.listens.filter(port => !open.includes(port))
  }

  /** TCP ports on which it listens, in ascending order. */
  openPorts(): number[] {
    const pid = this.#life?.held.pid
    return pid ? listeningPorts(pid) : []
  }

  /** Names the random bytes that this life reads from files. Each life in an execution has others. */
  get #random(): string {
    return `${this.#seed} ${this.name} ${this.#livesBefore}`
  }

  /** Everything on which a start depends. */
  #beginning(): string {
    const { drawn, forks } = this.#randomness.mark()
    return [
      this.#seed,
      this.#livesBefore,
      this.#clock.elapsed,
      this.#clock.jumped,
      drawn,
      forks,
      this.#disk?.hash(this.#clock.periods) ?? '',
    ].join(' ')
  }

  #begin(beginning: string): Life {
    const disk = this.#disk ?? new Disk(this.#newDirectory(), this.#runtime.writable, this.#newUnsynced())
    this.#disk = undefined
    const held = new HeldNode(this.name, this.#clock.copy(), this.#randomness.copy())
    held.isPaced = this.#isPaced
    held.mayStrike = this.#mayStrike
    const life = new Life(this.#runner, held, this.#runtime.place(), disk)
    held.packets = () => life.uplink.packets
    this.#lives.add(life, beginning, this.#livesBefore === 0)
    return life
  }

  /** What a container writes is not seen. */
  #newUnsynced(): Unsynced | undefined {
    return this.#diskModel && this.#mayStrike.has('power') ? new Unsynced(this.#diskModel) : undefined
  }

  #newDirectory(): string {
    return join(this.#directory, `disk${this.#directories++}`)
  }
}

const inNode = (name: string, error: unknown): unknown =>
  error instanceof CannotRewind || error instanceof CannotCheckpoint
    ? new CannotRewind(`${name}: ${error.message}`)
    : error
