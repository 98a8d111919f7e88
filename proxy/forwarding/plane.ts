import type { ForwardedCounts } from './counters.ts'
import { Forwarder } from './forwarder.ts'
import type { ForwardingPlan, HostWayChange, PipeChange } from './plan.ts'
import { Switch, type SwitchedHost } from './switch.ts'

export interface PlaneHost extends SwitchedHost {
  /** Descriptor of its TUN device. */
  readonly descriptor: number
}

/** The changes of a direction. */
interface Laid {
  isCut: boolean
  hasExtra: boolean
}

/**
 * Brings packets from one host to another: through a router if they pass pipes, otherwise through the kernel at its own
 * speed.
 */
export class Plane {
  readonly #router: Forwarder
  /** Undefined if every direction has pipes. */
  readonly #switch: Switch | undefined
  readonly #count: number
  /** How many of the hosts have come. */
  #there: number
  readonly #laid = new Map<number, Laid>()
  readonly #diverted = new Set<number>()

  /** @param hosts whose TUN devices stay open until it has ended. @throws SystemError */
  constructor(plan: ForwardingPlan, hosts: readonly PlaneHost[]) {
    this.#count = plan.addresses.length
    this.#there = hosts.length
    this.#switch = plan.pipes.length === 0 && this.#count > 1 ? new Switch(hosts, plan.addresses) : undefined
    this.#router = new Forwarder(
      plan,
      hosts.map(({ descriptor }) => descriptor),
    )
  }

  /** Attaches the next host of the plan. Its TUN device stays open too. */
  async add(host: PlaneHost): Promise<void> {
    await this.#router.attach(this.#there, host.descriptor)
    this.#switch?.add(host)
    this.#there += 1
    // What was changed before it came.
    for (const way of this.#laid.keys()) this.#divert(way, this.#isLaid(way))
  }

  /** Rejects if it fails. */
  get failed(): Promise<never> {
    return this.#router.failed
  }

  /** By pipe of the plan, the bytes that it carried. */
  get carried(): Float64Array {
    return this.#router.carried
  }

  get counts(): ForwardedCounts {
    const { counts } = this.#router
    const direct = this.#switch?.counts ?? { forwarded: 0, bytes: 0 }
    return { ...counts, forwarded: counts.forwarded + direct.forwarded, bytes: counts.bytes + direct.bytes }
  }

  /** Applies all changes at once, between two packets. */
  async change(changes: readonly HostWayChange[], pipes: readonly PipeChange[] = []): Promise<void> {
    for (const change of changes) this.#note(change)
    const ways = changes.map(change => this.#wayOf(change))
    // All of them go through the router first, so that they change at one instant between two packets.
    for (const way of ways) if (this.#isLaid(way)) this.#divert(way, true)
    await this.#router.change(changes, pipes)
    for (const way of ways) if (!this.#isLaid(way)) this.#divert(way, false)
  }

  /** Packets stay where they are until `resume`, except those that running hosts send through the kernel. */
  pause(): Promise<void> {
    return this.#router.pause()
  }

  resume(): Promise<void> {
    return this.#router.resume()
  }

  async end(): Promise<void> {
    await this.#router.end().finally(() => this.#switch?.close())
  }

  #wayOf({ from, to }: HostWayChange): number {
    return from * this.#count + to
  }

  #note(change: HostWayChange): void {
    const way = this.#wayOf(change)
    const laid = this.#laid.get(way) ?? { isCut: false, hasExtra: false }
    if (change.isCut !== undefined) laid.isCut = change.isCut
    if (change.extra !== undefined) laid.hasExtra = change.extra !== null
    this.#laid.set(way, laid)
  }

  #isLaid(way: number): boolean {
    const { isCut, hasExtra } = this.#laid.get(way)!
    return isCut || hasExtra
  }

  #divert(way: number, isDiverted: boolean): void {
    if (this.#switch === undefined || this.#diverted.has(way) === isDiverted) return
    const [from, to] = [Math.floor(way / this.#count), way % this.#count]
    if (Math.max(from, to) >= this.#there) return
    this.#switch.divert(from, to, isDiverted)
    if (isDiverted) this.#diverted.add(way)
    else this.#diverted.delete(way)
  }
}
