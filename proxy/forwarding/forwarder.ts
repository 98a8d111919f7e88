import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { countsOf, type ForwardedCounts, newCarried, newCounters } from './counters.ts'
import type { ForwardingPlan, HostWayChange, PipeChange } from './plan.ts'
import type { RouterOrder, ThreadData } from './thread.ts'
import { closeWake, newWake, wake } from './wake.ts'

const program = join(import.meta.dirname, `thread${extname(import.meta.filename)}`)

type What = RouterOrder extends infer Each ? (Each extends RouterOrder ? Omit<Each, 'id'> : never) : never

/** A router in its own thread. */
export class Forwarder {
  readonly #wake = newWake()
  readonly #counters = newCounters()
  /** By pipe of the plan, the bytes that it carried. */
  readonly carried: Float64Array
  readonly #worker: Worker
  readonly #awaited = new Map<number, { done: () => void; fail: (error: unknown) => void }>()
  #orders = 0
  readonly #failed: Promise<never>
  #isEnded = false
  /** A process does not end before its threads, and this one waits for packets. */
  readonly #letGo = () => void this.#order({ does: 'end' })

  /** @param descriptors of the hosts' TUN devices, which stay open until it has ended */
  constructor(plan: ForwardingPlan, descriptors: readonly number[]) {
    this.carried = newCarried(plan.pipes.length)
    const counted = { counters: this.#counters, carried: this.carried }
    const workerData: ThreadData = { plan, descriptors, wake: this.#wake, ...counted }
    this.#worker = new Worker(program, { workerData })
    this.#worker.on('message', (id: number) => {
      this.#awaited.get(id)?.done()
      this.#awaited.delete(id)
    })
    process.once('exit', this.#letGo)
    this.#failed = new Promise((_, reject) => {
      this.#worker.once('error', reject)
      this.#worker.once('exit', () => void (this.#isEnded || reject(new Error('the thread of the router ended'))))
    })
    this.#failed.catch(error => {
      for (const { fail } of this.#awaited.values()) fail(error)
    })
  }

  /** Rejects if its thread ends without being asked to. */
  get failed(): Promise<never> {
    return this.#failed
  }

  get counts(): ForwardedCounts {
    return countsOf(this.#counters)
  }

  /** Applies all changes at once, between two packets. */
  change(changes: readonly HostWayChange[], pipes: readonly PipeChange[] = []): Promise<void> {
    return this.#order({ does: 'change', changes, pipes })
  }

  /** Attaches a host of the plan that was not there, by the descriptor of its TUN device. */
  attach(host: number, descriptor: number): Promise<void> {
    return this.#order({ does: 'attach', host, descriptor })
  }

  /** Packets stay where they are until `resume`. */
  pause(): Promise<void> {
    return this.#order({ does: 'pause' })
  }

  resume(): Promise<void> {
    return this.#order({ does: 'resume' })
  }

  async end(): Promise<void> {
    const exit = new Promise(resolve => this.#worker.once('exit', resolve))
    this.#isEnded = true
    process.off('exit', this.#letGo)
    if (this.#runs) await Promise.race([this.#order({ does: 'end' }), exit])
    await this.#worker.terminate()
    closeWake(this.#wake)
  }

  get #runs(): boolean {
    return this.#worker.threadId !== -1
  }

  #order(what: What): Promise<void> {
    if (!this.#runs) return this.#failed
    const id = this.#orders++
    const answer = new Promise<void>((done, fail) => this.#awaited.set(id, { done, fail }))
    this.#worker.postMessage({ ...what, id } as RouterOrder)
    wake(this.#wake)
    return answer
  }
}
