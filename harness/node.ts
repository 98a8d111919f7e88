import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { Link } from '../proxy/link.ts'
import { NetworkNamespace } from '../proxy/namespace.ts'
import type { Network } from '../proxy/network.ts'
import { endConnections } from '../proxy/orphans.ts'
import { openTun } from '../proxy/tun.ts'
import type { Cell } from './cell.ts'
import type { NodeOutput, ResolvedNode } from './config.ts'
import { ConfigError } from './config.ts'
import { HeldNode } from './hold/held-node.ts'
import { launch, type MountPlan, type Overlay, sendSignal } from './hold/launch.ts'
import { Randomness } from './hold/randomness.ts'
import { type Nanoseconds, VirtualClock } from './hold/virtual-clock.ts'
import { Output } from './output.ts'
import { DiskMark } from './rewind/disk-mark.ts'
import { CannotRewind } from './rewind/error.ts'
import type { NodeMark } from './rewind/node-mark.ts'
import type { SharedFiles } from './shared-files.ts'

/** There programs learn how fast the timestamp counter is, which they would have to measure by sleeping. */
const cpuDirectory = '/sys/devices/system/cpu/cpu0'

interface Life {
  /** Where it can be brought back to; undefined where it cannot. */
  mark?: Mark
  /** Its link, while it is on no network. */
  link?: Link
  readonly held: HeldNode
  readonly namespace: NetworkNamespace
  readonly stdout: Output
  readonly stderr: Output
}

/** All that has to be brought back of a node. */
interface Mark {
  readonly processes: NodeMark
  readonly disk: DiskMark
  readonly rewindOutput: () => void
  readonly datagrams: ReturnType<Network['datagramsOf']>
}

const searchPath = process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'

/** A node of the system: what stays while it is started, killed, and started again. */
export class Node {
  readonly name: string
  readonly address: string
  readonly #definition: ResolvedNode
  readonly #files: SharedFiles
  /** Its disk: the private layers of its file system, and the files of its output. */
  readonly #directory: string
  readonly #executable: string
  #life: Life | undefined
  #clock = new VirtualClock()
  #randomness = new Randomness(0, '')
  /** Set while its link is on the network. */
  #isAttached = false

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
    return this.#life !== undefined && this.#life.held.exit === undefined
  }

  get clock(): VirtualClock {
    return this.#clock
  }

  /** Whether a reset or crash empties its disk. */
  get losesDisk(): boolean {
    return this.#definition.disk === 'lost'
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

  /** An empty disk, clocks at their start, randomness at its beginning. */
  renew(seed: number): void {
    this.wipe()
    this.#clock = new VirtualClock()
    this.#randomness = new Randomness(seed, this.name)
  }

  /** Empties its disk. */
  wipe(): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** Puts it on the network: its kernel is there from now on, its process not yet. */
  attach(network: Network): void {
    const namespace = NetworkNamespace.create()
    try {
      network.attach(this.name, this.address, openTun(namespace, this.address))
      this.#isAttached = true
      this.#life = this.#begin(namespace)
    } catch (error) {
      namespace.close()
      throw error
    }
  }

  /** Lets its process run; it is not quiescent yet. */
  start(cell: Cell): void {
    const { held, namespace, stdout, stderr } = this.#life!
    const { pid, release } = launch({
      command: [this.#executable, ...this.#definition.command.slice(1)],
      environment: { PATH: searchPath, HOME: process.env.HOME ?? '/', LANG: 'C.UTF-8', ...this.#definition.env },
      directory: this.workingDirectory,
      stdout: stdout.descriptor,
      stderr: stderr.descriptor,
      hostname: this.name,
      network: namespace.fd,
      mounts: this.#mounts(),
    })
    cell.hold(held, pid)
    release()
  }

  /** Remembers the quiescent node as it is, so that `rewind` can bring it back; it may not be possible. */
  mark(cell: Cell, network: Network): void {
    const life = this.#life!
    this.readOutput()
    try {
      const rewinds = [life.stdout.mark(), life.stderr.mark()]
      life.mark = {
        processes: cell.mark(life.held),
        disk: new DiskMark(this.#overlays()),
        rewindOutput: () => rewinds.forEach(rewind => rewind()),
        datagrams: network.datagramsOf(this.name),
      }
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
    }
  }

  /**
   * Brings it back to its mark, frozen, and takes it off its network.
   *
   * @returns false where that is not possible: it must be killed, and started anew
   */
  rewind(cell: Cell, network: Network): boolean {
    const life = this.#life
    if (!life?.mark || !this.isAlive) return false
    const { mark, held, namespace } = life
    try {
      cell.rewind(held, mark.processes)
      mark.disk.rewind(`/proc/${held.pid}/root`)
      if (!endConnections(namespace, held.pid)) return false
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
      return false
    }
    mark.rewindOutput()
    this.#isAttached = false
    life.link = network.release(this.name)
    return true
  }

  /** Lets a node that was brought back go on, on another network; what it had sent there is in flight again. */
  goOn(cell: Cell, network: Network): void {
    const { mark, held, link } = this.#life!
    network.attach(this.name, this.address, link!)
    network.resend(mark!.datagrams)
    this.#isAttached = true
    cell.tracer.thaw(held)
  }

  /** Kills all its processes at once; they are gone after `bury`. */
  kill(network: Network, peersSee: 'reset' | 'nothing'): void {
    // Its kernel is cut off first: it cannot tell anybody that its sockets close.
    if (this.#isAttached) network.detach(this.name, peersSee)
    this.#isAttached = false
    const held = this.#life?.held
    if (held && held.pid !== 0 && held.exit === undefined) sendSignal(held.pid, constants.signals.SIGKILL)
  }

  /** Waits until what was killed has ended, and lets go of all it had. */
  bury(cell: Cell): void {
    const life = this.#life
    if (life === undefined) return
    cell.awaitEnd(life.held)
    this.#life = undefined
    life.namespace.close()
    life.stdout.close()
    life.stderr.close()
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
    const open = pid ? ['tcp', 'tcp6'].flatMap(table => listeners(`/proc/${pid}/net/${table}`)) : []
    return this.#definition.listens.filter(port => !open.includes(port))
  }

  #begin(namespace: NetworkNamespace): Life {
    mkdirSync(this.#directory, { recursive: true })
    return {
      namespace,
      held: new HeldNode(this.name, this.#clock, this.#randomness),
      stdout: this.#openOutput('stdout'),
      stderr: this.#openOutput('stderr'),
    }
  }

  #openOutput(stream: string): Output {
    const path = join(this.#directory, stream)
    rmSync(path, { force: true })
    return new Output(path)
  }

  /** It writes to layers of its own, over its working directory and /tmp, and sees the cell's names and randomness. */
  #mounts(): MountPlan {
    const { hosts, resolvConf, random, cpu } = this.#files
    const files: [string, string][] = [
      ['/etc/hosts', hosts],
      ['/etc/resolv.conf', resolvConf],
      ['/dev/random', random],
      ['/dev/urandom', random],
    ]
    return {
      overlays: this.#overlays(),
      files: files.filter(([path]) => existsSync(path)),
      additions: existsSync(cpuDirectory) ? [[cpuDirectory, cpu]] : [],
      empty: existsSync('/dev/shm') ? ['/dev/shm'] : [],
    }
  }

  #overlays(): Overlay[] {
    return privateDirectories(this.workingDirectory).map((directory, index) => this.#overlay(directory, index))
  }

  #overlay(directory: string, index: number): Overlay {
    const upper = join(this.#directory, `upper${index}`)
    const work = join(this.#directory, `work${index}`)
    mkdirSync(upper, { recursive: true })
    mkdirSync(work, { recursive: true })
    return { directory, upper, work }
  }
}

/** A layer over /tmp serves for what is inside it too. The whole file system is never covered. */
const privateDirectories = (workingDirectory: string): string[] => {
  if (workingDirectory === '/' || workingDirectory === '/tmp' || workingDirectory.startsWith('/tmp/')) return ['/tmp']
  return ['/tmp', workingDirectory]
}

/** Lines of /proc/net/tcp: `sl local_address rem_address st …`, addresses as hex `IP:PORT`, state 0A: listening. */
const listeners = (path: string): number[] => {
  if (!existsSync(path)) return []
  return readFileSync(path, 'latin1')
    .split('\n')
    .slice(1)
    .map(line => line.trim().split(/\s+/))
    .filter(fields => fields[3] === '0A')
    .map(fields => Number.parseInt(fields[1]!.split(':')[1]!, 16))
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
