import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Network } from '../../proxy/network.ts'
import type { Criu } from '../checkpoint/criu.ts'
import { CannotCheckpoint } from '../checkpoint/error.ts'
import { makeOrphans, orphansOf } from '../checkpoint/orphans.ts'
import type { NodeOutput, ResolvedNode } from '../config/config.ts'
import { Disk } from '../files/disk.ts'
import { losePower } from '../files/power-loss.ts'
import type { Nanoseconds, VirtualClock } from '../hold/clock/virtual-clock.ts'
import { HeldNode } from '../hold/held/held-node.ts'
import type { PowerFailure, StepFaultKind, StepFaults } from '../hold/held/step-faults.ts'
import { CannotRewind } from '../rewind/calls/error.ts'
import type { Facing } from '../rewind/connection.ts'
import type { Runner } from '../runner/runner.ts'
import { type PowerOutcome, powerOutcomeOf } from '../unsynced/outcomes.ts'
import { type DiskModel, Unsynced } from '../unsynced/unsynced.ts'
import { Inheritance } from './inheritance.ts'
import { Life } from './life.ts'
import { ParkedLives } from './parked-lives.ts'
import { askingPorts } from './ports.ts'
import { Readiness } from './readiness.ts'
import type { NodePlan, Runtime } from './runtime.ts'
import { restoreLife, saveLife } from './saved-life.ts'
import type { MarkedDown, MarkedLife, MarkedNode, SavedNode } from './states.ts'

/** A node of the system: what stays while it is started, killed and started again. */
export class Node {
  readonly name: string
  readonly address: string
  readonly readiness: Readiness
  readonly #definition: ResolvedNode
  /** Paths of directories that other nodes have too. */
  readonly #shared: readonly string[]
  readonly #runtime: Runtime
  readonly #runner: Runner
  readonly #inheritance: Inheritance
  readonly #lives = new ParkedLives()
  #life: Life | undefined
  #isResumed = false
  #network: Network | undefined
  /** Messages of earlier lives that were in flight when this life began. */
  #sentBefore: ReadonlySet<unknown> = new Set()
  /** The last mark at whose state the node stood, and the activity of its life at that time. */
  #standing: { readonly marked: MarkedNode; readonly activity: string } | undefined
  /** The clocks of all nodes when it was paused; undefined while it is not. */
  #pausedAt: readonly Nanoseconds[] | undefined
  /** How the power fails in the start to come, if it does. */
  #failsInStart: PowerFailure | undefined
  /** Whether its lives are kept at the end of their start, and lived again. */
  #isRewound: boolean
  /** Whether the node's own computing takes virtual time. */
  readonly #isPaced: boolean
  /** What the disk guarantees for writes that were not synced; undefined if no power failure can occur. */
  readonly #diskModel: DiskModel | undefined
  /** Faults that may strike the node within a step. */
  readonly #mayStrike: ReadonlySet<StepFaultKind>

  constructor(
    { definition, address, directory, shared, isPaced }: NodePlan,
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
    this.#shared = shared.map(({ source }) => source)
    this.#runtime = runtime
    this.#runner = runner
    this.#isRewound = isRewound
    this.#isPaced = isPaced
    this.#diskModel = diskModel
    this.#mayStrike = definition.image === undefined ? mayStrike : new Set()
    this.readiness = new Readiness(definition, () => this.#life)
    this.#inheritance = new Inheritance(definition.name, clocksStart, directory)
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

  /** Stops its processes. It must be alive and quiescent. Packets that arrive meanwhile wait in its kernel. */
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
    const { held } = this.#life!
    held.waitingFaults.set(kind, fault)
    // Threads that wait enter their calls again, so that their instructions after these are counted too.
    if (held.waitingFaults.get('preempt')?.unit !== undefined) this.#runner.stopAndGoOn(held)
    this.#standing = undefined
  }

  /** Its power will fail in the start to come. Call it before `prepare`: such a start is not one that was kept. */
  failInStart(failure: PowerFailure): void {
    this.#failsInStart = failure
  }

  /** Ends it, if its power has failed in this step. */
  endPowerless(): void {
    const leaves = this.#life?.held.lostPower
    const { unsynced } = this
    if (leaves === undefined || unsynced === undefined) return
    this.kill('nothing', powerOutcomeOf(leaves, unsynced.operations, unsynced.model))
  }

  /** Writes that a power failure may lose; undefined while the node is down, and if no power failure can occur. */
  get unsynced(): Unsynced | undefined {
    return this.#life?.disk.unsynced
  }

  get clock(): VirtualClock {
    return this.#inheritance.clock
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

  /** The latest addition to each stream, from the beginning of a line. */
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
    this.#inheritance.renew(seed)
    // Others may write files that it sees before it is started.
    if (this.#shared.length > 0) this.clock.periods.begin(0)
  }

  /** Does the slow part of preparing the next life. Await it before `attach`. */
  async prepare(): Promise<void> {
    const isParked = !this.#beginsAnew && this.#life === undefined && this.#lives.has(this.#inheritance.beginning)
    if (!isParked) await this.#runtime.prepare()
  }

  /** Whether lives begin with new processes for now, and nothing of them is kept. */
  isAnew = false

  get #beginsAnew(): boolean {
    return this.isAnew || this.#failsInStart !== undefined
  }

  /** Whether its lives are kept and lived again. */
  get isReused(): boolean {
    return this.#isRewound && !this.isAnew
  }

  /** Attaches it to the network: its kernel exists from now on, its process not yet. */
  attach(network: Network): void {
    const { beginning } = this.#inheritance
    const kept = this.#beginsAnew ? undefined : this.#lives.take(beginning)
    const life = kept ?? this.#begin(beginning)
    if (this.#failsInStart) life.held.waitingFaults.set('power', this.#failsInStart)
    this.#failsInStart = undefined
    network.attachments.attach(this.name, this.address, life.uplink.link)
    this.#network = network
    const requests = network.messages.requestsOf(this.name).map(({ request }) => request)
    this.#sentBefore = new Set([...network.messages.datagramsOf(this.name), ...requests])
    this.#life = life
    this.#isResumed = kept !== undefined
    this.#inheritance.follow(life.held)
  }

  /** Lets its process run; it is not quiescent yet. */
  start(): void {
    const life = this.#life!
    this.#network!.messages.resend(life.datagrams)
    life.start(this.#inheritance.randomName)
  }

  /**
   * Called when its start is over and it is quiescent: keeps the result of the start if that will be useful.
   *
   * @returns whether it must settle again
   */
  keepStart(): boolean {
    const life = this.#life!
    if (!this.isReused || !this.#lives.isWanted(life) || this.#mayLosePower) return false
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

  /** Whether its power fails in this step, or in one to come. */
  get #mayLosePower(): boolean {
    const { waitingFaults, lostPower } = this.#life!.held
    return lostPower !== undefined || waitingFaults.get('power') !== undefined
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
    const { place, disk } = this.#life
    const left = this.#definition.disk === 'lost' ? undefined : disk.copy(this.#inheritance.newDirectory())
    this.#inheritance.leave(left)
    if (left && leaves) losePower(left, leaves, place.lowerOf)
    this.#end(this.#life, peersSee)
  }

  /** Ends the present life, if the node is up. Before the next one it must be renewed. */
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
    const { seed, lives } = this.#inheritance
    return {
      ...{ seed, lives, ...this.#inheritance.copy(join(directory, 'disk')) },
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
    const inheritance = this.#inheritance
    inheritance.renew(saved.seed, saved.lives)
    inheritance.restore(saved)
    if (saved.life === undefined) return
    const place = this.#runner.aside(() => this.#runtime.place())
    const [directory, random] = [inheritance.newDirectory(), inheritance.randomName]
    this.#life = restoreLife(criu, this.#runner, this.name, saved.life, place, directory, random)
    network.attachments.attach(this.name, this.address, place.uplink.link)
    this.#network = network
    this.#inheritance.follow(this.#life.held)
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
    const { seed, lives } = this.#inheritance
    return { seed, lives, has: this.#life ? this.#markLife(this.#life) : this.#markDown() }
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
    return { life: undefined, ...this.#inheritance.copy(this.#inheritance.newDirectory()) }
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
    this.#inheritance.renew(seed, lives)
    this.#network = network
    if (has.life) this.#continue(has.life, network)
    else this.#inheritance.restore(has)
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
    this.#inheritance.follow(life.held)
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
    // The node's kernel is detached first: otherwise it would tell peers that the sockets close.
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

  /** Kills everything that was ever started. It is gone after `endLives`. */
  killLives(): void {
    this.#lives.kill(this.#life)
  }

  /** Ends everything that was ever started. */
  endLives(): void {
    this.#lives.close(this.#life)
    this.#life = undefined
    this.#pausedAt = undefined
  }

  /** Frees what lives share. All must have ended. */
  close(): void {
    this.#runtime.close()
  }

  /** Moves its clock to this elapsed time, if that is later. No timer fires by this. */
  moveClockTo(elapsed: Nanoseconds): void {
    if (elapsed <= this.clock.elapsed) return
    if (this.#life) this.#life.held.moveClock(elapsed)
    else this.clock.elapsed = elapsed
  }

  /** Lets its wall clock jump, forwards or back. */
  jumpClock(by: Nanoseconds): void {
    if (this.#life) this.#life.held.jumpClock(by)
    else this.clock.jumped += by
    this.#standing = undefined
  }

  #begin(beginning: string): Life {
    const { lives, clock, randomness } = this.#inheritance
    const disk = this.#inheritance.takeDisk() ?? this.#newDisk()
    const held = new HeldNode(this.name, clock.copy(), randomness.copy())
    held.isPaced = this.#isPaced
    held.mayStrike = this.#mayStrike
    const life = new Life(this.#runner, held, this.#runtime.place(), disk)
    held.written = [...held.written, ...this.#shared]
    held.packets = () => life.uplink.packets
    this.#lives.add(life, beginning, lives === 0)
    return life
  }

  #newDisk(): Disk {
    // What a container writes is not seen.
    const unsynced = this.#diskModel && this.#mayStrike.has('power') ? new Unsynced(this.#diskModel) : undefined
    return new Disk(this.#inheritance.newDirectory(), this.#runtime.writable, unsynced)
  }
}

const inNode = (name: string, error: unknown): unknown =>
  error instanceof CannotRewind || error instanceof CannotCheckpoint
    ? new CannotRewind(`${name}: ${error.message}`)
    : error
