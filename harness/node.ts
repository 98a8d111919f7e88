import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Network } from '../proxy/network.ts'
import { portOf, tcpEntries, tcpState } from '../proxy/tcp-table.ts'
import type { Cell } from './cell.ts'
import type { Criu } from './checkpoint/criu.ts'
import type { Facing } from './checkpoint/orphans.ts'
import { restoreLife, type SavedLife, saveLife } from './checkpoint/saved-life.ts'
import type { NodeOutput, ResolvedNode } from './config.ts'
import { Disk } from './disk.ts'
import { HeldNode } from './hold/held-node.ts'
import { Randomness, type RandomnessMark } from './hold/randomness.ts'
import { type Nanoseconds, VirtualClock } from './hold/virtual-clock.ts'
import { Life } from './life.ts'
import { Lives } from './lives.ts'
import type { NodePlan, Runtime } from './runtime.ts'

/** A node as it was at one instant. */
export interface SavedNode {
  readonly seed: number
  readonly isFirst: boolean
  readonly elapsed: Nanoseconds
  readonly randomness: RandomnessMark
  /** While it is down, what its next life finds. */
  readonly disk: Disk | undefined
  readonly life: SavedLife | undefined
}

/** Below the layers of a process of this machine is this machine's file system. */
const samePath = (path: string): string => path

/** A node of the system: what stays while it is started, killed, and started again. */
export class Node {
  readonly name: string
  readonly address: string
  readonly #definition: ResolvedNode
  readonly #runtime: Runtime
  readonly #directory: string
  readonly #lives = new Lives()
  /** How many disks there were: each life has its own. */
  #directories = 0
  #life: Life | undefined
  #network: Network | undefined
  /** What was in flight from an earlier life when this one began. */
  #sentBefore: ReadonlySet<unknown> = new Set()
  /** While it is down, what its next life finds; undefined for an empty disk. */
  #disk: Disk | undefined
  #seed = 0
  /** Whether its next life is the first in this execution. */
  #isFirst = true
  #clock = new VirtualClock()
  #randomness = new Randomness('')

  constructor({ definition, address, directory }: NodePlan, runtime: Runtime) {
    this.name = definition.name
    this.address = address
    this.#definition = definition
    this.#directory = directory
    this.#runtime = runtime
  }

  /** Its processes, while it is up or has ended of itself. */
  get held(): HeldNode | undefined {
    return this.#life?.held
  }

  get isAlive(): boolean {
    return this.#life?.isAlive ?? false
  }

  get clock(): VirtualClock {
    return this.#clock
  }

  /** How often its program was started, and not brought back to where it began. */
  get starts(): number {
    return this.#lives.count
  }

  get workingDirectory(): string {
    return this.#runtime.workingDirectory
  }

  /** The program that tells whether it is healthy. */
  get healthCheck(): readonly string[] | undefined {
    return this.#definition.healthy
  }

  /** Whether it was brought back to the end of its start, instead of being started. */
  get isResumed(): boolean {
    return this.#life?.isMarked ?? false
  }

  output(): NodeOutput {
    return { stdout: this.#life?.stdout.text ?? '', stderr: this.#life?.stderr.text ?? '' }
  }

  /** Reads what it wrote since the last call. */
  readOutput(): { stdout: Buffer; stderr: Buffer } {
    const nothing = Buffer.alloc(0)
    return { stdout: this.#life?.stdout.read() ?? nothing, stderr: this.#life?.stderr.read() ?? nothing }
  }

  /** What it wrote last, for a finding; its errors, unless it wrote none. */
  lastOutput(): string {
    this.readOutput()
    return this.#life?.stderr.tail() || this.#life?.stdout.tail() || ''
  }

  /** An empty disk, clocks at their start, randomness at its beginning. It must be down. */
  renew(seed: number): void {
    this.#disk?.remove()
    this.#disk = undefined
    this.#seed = seed
    this.#isFirst = true
    this.#clock = new VirtualClock()
    this.#randomness = new Randomness(`${seed} ${this.name}`)
  }

  /** Readies its next life, as far as that cannot be had at once. To be awaited before `attach`. */
  async prepare(): Promise<void> {
    const isParked = this.#life === undefined && this.#lives.has(this.#beginning())
    if (!isParked) await this.#runtime.prepare()
  }

  /** Puts it on the network: its kernel is there from now on, its process not yet. */
  attach(network: Network): void {
    const beginning = this.#beginning()
    const life = this.#lives.take(beginning) ?? this.#begin(beginning)
    network.attach(this.name, this.address, life.uplink.link)
    this.#network = network
    this.#sentBefore = new Set(network.datagramsOf(this.name))
    this.#life = life
    this.#clock = life.held.clock
    this.#randomness = life.held.randomness
  }

  /** Lets its process run; it is not quiescent yet. */
  start(cell: Cell): void {
    const life = this.#life!
    this.#network!.resend(life.datagrams)
    life.start(cell, this.#seed)
  }

  /**
   * Its start is over, and it is quiescent: what the start came to is kept, where it will be of use.
   *
   * @returns whether it has to settle again
   */
  keepStart(cell: Cell): boolean {
    const life = this.#life!
    if (!this.#lives.isWanted(life)) return false
    life.mark(
      cell,
      this.#network!.datagramsOf(this.name).filter(datagram => !this.#sentBefore.has(datagram)),
    )
    return true
  }

  /** Kills it: its life ends at once, and what its disk keeps is there for the next. */
  kill(cell: Cell, peersSee: 'reset' | 'nothing'): void {
    if (this.#life === undefined) return
    this.#isFirst = false
    this.#clock = this.#clock.copy()
    this.#randomness = this.#randomness.copy()
    this.#disk = this.#definition.disk === 'lost' ? undefined : this.#life.copyDisk(this.#newDirectory())
    this.#end(this.#life, cell, peersSee)
  }

  /** Ends its life, if it has one. Before the next it must be renewed. */
  end(cell: Cell): void {
    if (this.#life) this.#end(this.#life, cell, 'nothing')
  }

  /**
   * Saves it, quiescent: it then has to settle again.
   *
   * @param directory a new one
   * @throws CannotCheckpoint
   */
  save(criu: Criu, cell: Cell, directory: string): SavedNode {
    mkdirSync(directory)
    return {
      seed: this.#seed,
      isFirst: this.#isFirst,
      elapsed: this.#clock.elapsed,
      randomness: this.#randomness.mark(),
      disk: this.#disk?.copy(join(directory, 'disk'), samePath),
      life: this.#life && saveLife(criu, cell, this.#life, this.#facing, join(directory, 'life')),
    }
  }

  /**
   * Makes of it what was saved, of this node or of another of the same name and address. It must be down. Its processes
   * are frozen, and go on with `thaw`.
   *
   * @throws CannotCheckpoint
   */
  restore(saved: SavedNode, criu: Criu, cell: Cell, network: Network): void {
    this.renew(saved.seed)
    this.#isFirst = saved.isFirst
    this.#disk = saved.disk?.copy(this.#newDirectory(), samePath)
    this.#clock.elapsed = saved.elapsed
    this.#randomness = Randomness.from(saved.randomness)
    if (saved.life === undefined) return
    const place = cell.aside(() => this.#runtime.place())
    this.#life = restoreLife(criu, cell, this.name, saved.life, place, this.#newDirectory(), saved.seed)
    network.attach(this.name, this.address, place.uplink.link)
    this.#network = network
    this.#clock = this.#life.held.clock
    this.#randomness = this.#life.held.randomness
  }

  readonly #facing: Facing = (port, peer, peerPort) => this.#network?.facing(this.name, port, peer, peerPort)

  #end(life: Life, cell: Cell, peersSee: 'reset' | 'nothing'): void {
    // Its kernel is cut off first: it cannot tell anybody that its sockets close.
    this.#network!.release(this.name, peersSee)
    this.#life = undefined
    this.#lives.end(life, cell)
  }

  /** Ends all that was ever started. */
  close(cell: Cell): void {
    this.#lives.close(cell, this.#life)
    this.#life = undefined
    this.#runtime.close()
  }

  /** Its clock shows this instant, in time elapsed, or a later one. No timer fires by it. */
  moveClockTo(elapsed: Nanoseconds): void {
    if (elapsed <= this.#clock.elapsed) return
    if (this.#life) this.#life.held.moveClock(elapsed)
    else this.#clock.elapsed = elapsed
  }

  /** Those of the TCP ports that must be open when its start is over that nothing in it listens on. */
  closedPorts(): number[] {
    const pid = this.#life?.held.pid
    const listeners = pid ? tcpEntries(pid).filter(({ state }) => state === tcpState.listen) : []
    const open = listeners.map(({ local }) => portOf(local))
    return this.#definition.listens.filter(port => !open.includes(port))
  }

  /** All that a start depends on. */
  #beginning(): string {
    const { drawn, forks } = this.#randomness.mark()
    return [this.#seed, this.#clock.elapsed, drawn, forks, this.#disk?.hash() ?? ''].join(' ')
  }

  #begin(beginning: string): Life {
    const disk = this.#disk ?? new Disk(this.#newDirectory(), this.#runtime.writable)
    this.#disk = undefined
    const held = new HeldNode(this.name, this.#clock.copy(), this.#randomness.copy())
    const life = new Life(held, this.#runtime.place(), disk)
    this.#lives.add(life, beginning, this.#isFirst)
    return life
  }

  #newDirectory(): string {
    return join(this.#directory, `disk${this.#directories++}`)
  }
}
