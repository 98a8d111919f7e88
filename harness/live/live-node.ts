import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { NetworkNamespace } from '../../proxy/namespace.ts'
import { closeTun, openForwardedTun } from '../../proxy/tun.ts'
import type { NodeOutput, ResolvedNode } from '../config.ts'
import { Disk } from '../disk.ts'
import { launch, sendSignal } from '../hold/launch.ts'
import { coveredBy, environmentOf, findExecutable } from '../local-runtime.ts'
import { Output } from '../output.ts'
import type { NodePlan } from '../runtime.ts'
import { hostsShownTo } from '../shared-files.ts'
import { type Ending, endingOf } from './ending.ts'
import { childrenOf, signalAll } from './processes.ts'

const SIGKILL = 9
const SIGTERM = 15
const SIGCONT = 18
const SIGSTOP = 19
/** What properties and observers can read of its output, from the end. */
const outputLengthMax = 1 << 20

const nothing = Buffer.alloc(0)

/**
 * Becomes pid 1 of the node's pid namespace. It ends with this tool, and with the node's program; as pid 1 the program
 * itself would not hear signals that it has no handler for.
 */
const init = `mount -t proc proc /proc; exec setpriv --pdeathsig KILL sh -c '"$@" & wait $!' sh "$@"`

/** A process of a service that runs in real time, with a network of its own: what stays while it comes and goes. */
export class LiveNode {
  readonly name: string
  readonly address: string
  readonly workingDirectory: string
  readonly namespace = NetworkNamespace.create('live')
  /** Of its TUN device. */
  readonly descriptor: number
  readonly #definition: ResolvedNode
  readonly #executable: string
  readonly #plan: NodePlan
  #disk: Disk | undefined
  #life: { readonly pid: number; readonly stdout: Output; readonly stderr: Output } | undefined
  #lives = 0
  #isFrozen = false
  /** What it wrote before it ended, and nobody has read. */
  #lastWords: { stdout: Buffer; stderr: Buffer } = { stdout: nothing, stderr: nothing }

  /** @throws ConfigError where its program is not found */
  constructor(plan: NodePlan) {
    this.#plan = plan
    this.#definition = plan.definition
    this.name = plan.definition.name
    this.address = plan.address
    this.workingDirectory = plan.definition.cwd ?? '/'
    this.#executable = findExecutable(plan.definition)
    this.descriptor = openForwardedTun(this.namespace, this.address)
  }

  get isAlive(): boolean {
    return this.#life !== undefined
  }

  /** Of the first process in its pid namespace; undefined while it is down. */
  get pid(): number | undefined {
    return this.#life?.pid
  }

  /** Begins a life. It must be down. */
  start(): void {
    const { directory, files } = this.#plan
    const place = join(directory, `life${this.#lives++}`)
    mkdirSync(place, { recursive: true })
    const stdout = new Output(join(place, 'stdout'), outputLengthMax)
    const stderr = new Output(join(place, 'stderr'), outputLengthMax)
    if (this.#definition.disk === 'lost') this.#forgetDisk()
    this.#disk ??= new Disk(join(directory, `disk${this.#lives}`), coveredBy(this.workingDirectory))
    const { pid, release } = launch({
      command: ['/bin/sh', '-c', init, 'sh', this.#executable, ...this.#definition.command.slice(1)],
      environment: environmentOf(this.#definition),
      directory: this.workingDirectory,
      hostname: this.name,
      mounts: { overlays: this.#disk.layers, files: hostsShownTo(files), additions: [], empty: ['/dev/shm'] },
      stdout: stdout.descriptor,
      stderr: stderr.descriptor,
      network: this.namespace.fd,
    })
    release()
    this.#life = { pid, stdout, stderr }
    this.#isFrozen = false
  }

  /** Asks its program to end. */
  stop(): void {
    if (this.#life) for (const pid of childrenOf(this.#life.pid)) sendSignal(pid, SIGTERM)
  }

  /** Ends all its processes at once; its kernel tells its peers. */
  kill(): void {
    if (this.#life) sendSignal(this.#life.pid, SIGKILL)
  }

  /** How it ended since it was last asked; undefined while it lives, and after that was told. */
  ending(): Ending | undefined {
    if (this.#life === undefined) return undefined
    const ending = endingOf(this.#life.pid)
    if (ending === undefined) return undefined
    this.#lastWords = this.readOutput()
    this.#life.stdout.close()
    this.#life.stderr.close()
    this.#life = undefined
    return ending
  }

  /** Stops every process of it where it is; nothing where it is down. */
  freeze(): void {
    this.#isFrozen = true
    if (this.#life) signalAll(this.#life.pid, SIGSTOP)
  }

  thaw(): void {
    if (!this.#isFrozen) return
    this.#isFrozen = false
    if (this.#life) signalAll(this.#life.pid, SIGCONT)
  }

  output(): NodeOutput {
    return { stdout: this.#life?.stdout.text ?? '', stderr: this.#life?.stderr.text ?? '' }
  }

  /** Reads what it wrote since the last call. */
  readOutput(): { stdout: Buffer; stderr: Buffer } {
    const { stdout, stderr } = this.#lastWords
    this.#lastWords = { stdout: nothing, stderr: nothing }
    return {
      stdout: Buffer.concat([stdout, this.#life?.stdout.read() ?? nothing]),
      stderr: Buffer.concat([stderr, this.#life?.stderr.read() ?? nothing]),
    }
  }

  /** It must have ended. */
  close(): void {
    closeTun(this.descriptor)
    this.namespace.close()
  }

  #forgetDisk(): void {
    this.#disk?.remove()
    this.#disk = undefined
  }
}
