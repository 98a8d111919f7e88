import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { Network } from '../proxy/network.ts'
import { portOf, tcpEntries, tcpState } from '../proxy/tcp-table.ts'
import type { Cell } from './cell.ts'
import type { Criu } from './checkpoint/criu.ts'
import type { Facing } from './checkpoint/orphans.ts'
import { restoreLife, type SavedLife, saveLife } from './checkpoint/saved-life.ts'
import type { NodeOutput, ResolvedNode } from './config.ts'
import { ConfigError } from './config.ts'
import { Disk } from './disk.ts'
import { HeldNode } from './hold/held-node.ts'
import type { MountPlan } from './hold/mounts.ts'
import { Randomness, type RandomnessMark } from './hold/randomness.ts'
import { type Nanoseconds, VirtualClock } from './hold/virtual-clock.ts'
import { Life } from './life.ts'
import { Lives } from './lives.ts'
import type { SharedFiles } from './shared-files.ts'
import { Uplink } from './uplink.ts'

/** There programs learn how fast the timestamp counter is, which they would have to measure by sleeping. */
const cpuDirectory = '/sys/devices/system/cpu/cpu0'

const searchPath = process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'

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

/** A node of the system: what stays while it is started, killed, and started again. */
export class Node {
  readonly name: string
  readonly address: string
  readonly #definition: ResolvedNode
  readonly #files: SharedFiles
  readonly #directory: string
  readonly #executable: string
  readonly #lives = new Lives()
  /** How many directories there were: each life has its own. */
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

  /** @param definition with its placeholders replaced */
  constructor(definition: ResolvedNode, address: string, directory: string, files: SharedFiles) {
    this.name = definition.name
    this.address = address
    this.#definition = definition
    this.#files = files
    this.#directory = directory
    this.#executable = findExecutable(definition)
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
    return this.#definition.cwd ?? '/'
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
    life.start(cell, {
      command: [this.#executable, ...this.#definition.command.slice(1)],
      environment: { PATH: searchPath, HOME: process.env.HOME ?? '/', LANG: 'C.UTF-8', ...this.#definition.env },
      directory: this.workingDirectory,
      hostname: this.name,
      mounts: this.#mounts(life.disk),
    })
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
    this.#disk = this.#definition.disk === 'lost' ? undefined : this.#life.disk.copy(this.#newDirectory())
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
      disk: this.#disk?.copy(join(directory, 'disk')),
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
    this.#disk = saved.disk?.copy(this.#newDirectory())
    this.#clock.elapsed = saved.elapsed
    this.#randomness = Randomness.from(saved.randomness)
    if (saved.life === undefined) return
    const uplink = cell.aside(() => this.#lives.uplink() ?? new Uplink(this.address))
    try {
      this.#life = restoreLife(criu, cell, this.name, saved.life, uplink, this.#newDirectory(), disk =>
        this.#mounts(disk),
      )
    } catch (error) {
      uplink.close()
      throw error
    }
    network.attach(this.name, this.address, uplink.link)
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
    const disk = this.#disk ?? new Disk(this.#newDirectory(), coveredBy(this.workingDirectory))
    this.#disk = undefined
    const uplink = this.#lives.uplink() ?? new Uplink(this.address)
    const life = new Life(new HeldNode(this.name, this.#clock.copy(), this.#randomness.copy()), uplink, disk)
    this.#lives.add(life, beginning, this.#isFirst)
    return life
  }

  #newDirectory(): string {
    return join(this.#directory, String(this.#directories++))
  }

  /** It writes to layers of its own, over its working directory and /tmp, and sees the cell's names and randomness. */
  #mounts(disk: Disk): MountPlan {
    const { hosts, resolvConf, cpu } = this.#files
    const random = this.#files.random(this.#seed)
    const files: [string, string][] = [
      ['/etc/hosts', hosts],
      ['/etc/resolv.conf', resolvConf],
      ['/dev/random', random],
      ['/dev/urandom', random],
    ]
    return {
      overlays: disk.layers,
      files: files.filter(([path]) => existsSync(path)),
      additions: existsSync(cpuDirectory) ? [[cpuDirectory, cpu]] : [],
      empty: existsSync('/dev/shm') ? ['/dev/shm'] : [],
    }
  }
}

/** A layer over /tmp serves for what is inside it too. The whole file system is never covered. */
const coveredBy = (workingDirectory: string): string[] => {
  if (workingDirectory === '/' || workingDirectory === '/tmp' || workingDirectory.startsWith('/tmp/')) return ['/tmp']
  return ['/tmp', workingDirectory]
}

/** Where the program is, as the node would find it. */
const findExecutable = ({ name, command, cwd, env }: ResolvedNode): string => {
  const program = command[0]!
  const places = program.includes('/')
    ? [isAbsolute(program) ? program : resolve(cwd ?? '/', program)]
    : (env.PATH ?? searchPath).split(delimiter).map(place => join(place, program))
  const found = places.find(place => existsSync(place))
  if (found === undefined) throw new ConfigError([`nodes.${name}.command: expected a program, found no "${program}"`])
  return found
}
