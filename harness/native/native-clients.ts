import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../checker/system/show.ts'
import { toJson } from '../clients/as-json.ts'
import { History } from '../clients/history.ts'
import type { ClientCall, NodeHandle, Operation, ResolvedClient } from '../config/config.ts'
import type { NativeCluster } from './native-cluster.ts'
import { handleOf } from './native-handle.ts'
import type { NativeNode } from './native-node.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** A call that is over. */
export interface TimedCall {
  readonly client: string
  /** Since the clients began. */
  readonly beganMs: number
  readonly tookMs: number
  readonly isOk: boolean
}

/** Clients that call repeatedly: each begins its next call after the last one ended and it paused. */
export class NativeClients {
  readonly calls: Mutable<ClientCall>[] = []
  readonly timed: TimedCall[] = []
  readonly #history = new History()
  readonly #handles: Record<string, NodeHandle & { close(): void }>
  readonly #end = new AbortController()
  readonly #begun = performance.now()
  #step = 0

  constructor(cluster: NativeCluster) {
    this.#handles = Object.fromEntries(cluster.nodes.map(node => [node.name, handleOf(node)]))
  }

  /** Calls that begin later may use this node too. */
  reach(node: NativeNode): void {
    this.#handles[node.name] = handleOf(node)
  }

  get history(): readonly Operation[] {
    this.#history.endStep(this.#step)
    return this.#history.operations
  }

  /** Later events belong to this step. */
  set step(step: number) {
    this.#history.endStep(this.#step)
    this.#step = step
  }

  /** @param pauseMs after each call */
  begin(client: ResolvedClient, pauseMs: number): void {
    void this.#callOn(client, pauseMs)
  }

  close(): void {
    this.#end.abort()
    for (const handle of Object.values(this.#handles)) handle.close()
  }

  async #callOn(client: ResolvedClient, pauseMs: number): Promise<void> {
    const { signal } = this.#end
    for (let ordinal = 1; !signal.aborted; ordinal++) {
      await this.#call(client, ordinal)
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async #call({ name, run }: ResolvedClient, ordinal: number): Promise<void> {
    const call: Mutable<ClientCall> = {
      client: name,
      ordinal,
      invokedAt: this.#step,
      completedAt: undefined,
      value: undefined,
      error: undefined,
    }
    this.calls.push(call)
    const began = performance.now()
    try {
      const value = await run({ ...this.#handles }, { ordinal, operation: this.#history.performerOf(name) })
      toJson(`clients.${name}`, value)
      call.value = value
    } catch (error) {
      call.error = messageOf(error)
    }
    if (this.#end.signal.aborted) return
    call.completedAt = this.#step
    const tookMs = performance.now() - began
    this.timed.push({ client: name, beganMs: began - this.#begun, tookMs, isOk: call.error === undefined })
  }
}
