import type { NetworkNamespace } from '../../linux/namespace.ts'
import { closeTun, openForwardedTun } from '../../linux/tun.ts'
import type { NodeOutput } from '../config/config.ts'
import { sendSignal } from '../hold/start/launch.ts'
import type { NodePlan } from '../node/runtime.ts'
import type { Ending } from './ending.ts'
import type { NativeLife, NativeRuntime } from './native-runtime.ts'
import { signalAll } from './processes.ts'

const SIGKILL = 9
const SIGCONT = 18
const SIGSTOP = 19

const nothing = Buffer.alloc(0)

/** For what nodes are stopped while they are looked at. */
export const aLook = 'a look'

/**
 * A process of a service that runs in real time, with a network of its own: what stays while the process comes and
 * goes.
 */
export class NativeNode {
  readonly plan: NodePlan
  /** Of its TUN device. */
  readonly descriptor: number
  readonly #runtime: NativeRuntime
  #life: NativeLife | undefined
  #starting: Promise<void> | undefined
  /** For what it is stopped; empty while it runs. */
  readonly #stops = new Set<string>()
  /** Output before its end that nobody has read yet. */
  #lastWords: { stdout: Buffer; stderr: Buffer } = { stdout: nothing, stderr: nothing }

  /** @throws SystemError */
  constructor(plan: NodePlan, runtime: NativeRuntime) {
    this.plan = plan
    this.#runtime = runtime
    this.descriptor = openForwardedTun(runtime.namespace, plan.address)
  }

  get name(): string {
    return this.plan.definition.name
  }

  get address(): string {
    return this.plan.address
  }

  get workingDirectory(): string {
    return this.#runtime.workingDirectory
  }

  get namespace(): NetworkNamespace {
    return this.#runtime.namespace
  }

  get isAlive(): boolean {
    return this.#life !== undefined
  }

  /** Id of the first process in its pid namespace; undefined while it is down. */
  get pid(): number | undefined {
    return this.#life?.pid
  }

  /** Descriptor of its root directory; undefined while it is down. */
  get root(): number | undefined {
    return this.#life?.root
  }

  /** Where programs are run in it; undefined while it is down. */
  get inside() {
    return this.#life && { ...this.#life, directory: this.workingDirectory }
  }

  /**
   * Begins a life, unless it is alive.
   *
   * @param onEnd is called when it may have ended, if no signal reports that
   */
  async start(onEnd: () => void): Promise<void> {
    this.#starting ??= this.#begin(onEnd).finally(() => {
      this.#starting = undefined
    })
    await this.#starting
  }

  /** Resolves when no start is under way. */
  async settled(): Promise<void> {
    await this.#starting?.catch(() => undefined)
  }

  /** Asks its program to end. */
  stop(): void {
    this.#life?.stop()
  }

  /** Ends all its processes at once. Its kernel tells its peers. */
  kill(): void {
    if (this.#life) sendSignal(this.#life.pid, SIGKILL)
  }

  /** How it ended since the last call; undefined while it lives, and after its end was returned once. */
  ending(): Ending | undefined {
    const ending = this.#life?.ending()
    if (this.#life === undefined || ending === undefined) return undefined
    this.#lastWords = this.readOutput()
    this.#life.leave()
    this.#life = undefined
    return ending
  }

  /**
   * Stops all its processes; does nothing while it is down.
   *
   * @param the reason; the node continues when no reason is left
   */
  freeze(what: string): void {
    this.#stops.add(what)
    if (this.#life) signalAll(this.#life.pid, SIGSTOP)
  }

  thaw(what: string): void {
    if (!this.#stops.delete(what) || this.#stops.size > 0) return
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

  /** Call it only after it has ended. */
  close(): void {
    closeTun(this.descriptor)
    this.#runtime.close()
  }

  async #begin(onEnd: () => void): Promise<void> {
    if (this.#life) return
    this.#life = await this.#runtime.begin()
    this.#stops.clear()
    void this.#life.ended?.then(onEnd)
  }
}
