/** A router's thread. It never returns to its event loop: orders come with a wake-up. */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { libc } from '../../linux/libc.ts'
import { Epoll } from './epoll.ts'
import type { ForwardingPlan, HostWayChange, PipeChange } from './plan.ts'
import { Router } from './router.ts'
import { TunPort } from './tun-port.ts'
import { awake } from './wake.ts'

export interface ThreadData {
  readonly plan: ForwardingPlan
  /** Descriptors of the hosts' TUN devices. */
  readonly descriptors: readonly number[]
  readonly wake: number
  readonly counters: Float64Array
  /** By pipe. */
  readonly carried: Float64Array
}

/** An order. The thread answers with its id when it is done. */
export type RouterOrder = { readonly id: number } & (
  | { readonly does: 'attach'; readonly host: number; readonly descriptor: number }
  | { readonly does: 'change'; readonly changes: readonly HostWayChange[]; readonly pipes: readonly PipeChange[] }
  /** Packets stay where they are until `resume`. */
  | { readonly does: 'pause' | 'resume' | 'end' }
)

const setTimerSlack = 29 // PR_SET_TIMERSLACK
const roundRobin = 2 // SCHED_RR
const prctl = libc.func('int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)')
const setScheduler = libc.func('int sched_setscheduler(int pid, int policy, void *parameters)')

const wakeKey = -1
/** A CPU that sleeps wakes up late, so the last part of each wait, in milliseconds, polls the clock. */
const awakeMs = 0.2

class Thread {
  readonly #data: ThreadData
  readonly #port: MessagePort
  readonly #router: Router
  readonly #all = new Epoll()
  /** Used while the router is paused. */
  readonly #orders = new Epoll()
  #isPaused = false
  #isOver = false

  constructor(data: ThreadData, port: MessagePort) {
    this.#data = data
    this.#port = port
    this.#router = new Router(
      data.plan,
      data.descriptors.map(descriptor => new TunPort(descriptor)),
      data.counters,
      data.carried,
    )
    for (const [host, descriptor] of data.descriptors.entries()) this.#all.add(descriptor, host)
    this.#all.add(data.wake, wakeKey)
    this.#orders.add(data.wake, wakeKey)
  }

  run(): void {
    while (!this.#isOver) {
      if (!this.#isPaused) this.#router.release(performance.now())
      const epoll = this.#isPaused ? this.#orders : this.#all
      const ready = epoll.wait(
        this.#isPaused ? Number.POSITIVE_INFINITY : this.#router.due - performance.now() - awakeMs,
      )
      for (let index = 0; index < ready; index++) {
        const key = epoll.key(index)
        if (key === wakeKey) this.#obey()
        // If it was paused just now, the packet is read later.
        else if (!this.#isPaused) this.#router.takeFrom(key, performance.now())
      }
    }
    this.#all.close()
    this.#orders.close()
  }

  #attach(host: number, descriptor: number): void {
    this.#router.attach(host, new TunPort(descriptor))
    this.#all.add(descriptor, host)
  }

  #obey(): void {
    awake(this.#data.wake)
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port)) {
      const order: RouterOrder = next.message
      if (order.does === 'change') this.#router.change(order.changes, order.pipes, performance.now())
      else if (order.does === 'attach') this.#attach(order.host, order.descriptor)
      else if (order.does === 'end') this.#isOver = true
      else this.#isPaused = order.does === 'pause'
      this.#port.postMessage(order.id)
    }
  }
}

/** Sets timers to microsecond precision, and takes the CPU before the hosts, if allowed. */
const hurry = () => {
  prctl(setTimerSlack, 1, 0, 0, 0)
  const priority = Buffer.alloc(4)
  priority.writeInt32LE(1)
  setScheduler(0, roundRobin, priority)
}

hurry()
new Thread(workerData as ThreadData, parentPort!).run()
