import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { NetworkNamespace } from '../../linux/namespace.ts'
import { openTun } from '../../linux/tun.ts'
import type { Message } from '../../proxy/message.ts'
import { Network, type NetworkOptions } from '../../proxy/network.ts'

/** Real nodes on a network, for tests: namespaces, TUNs and programs that all go when it is closed. */
export class Machine {
  readonly network: Network
  readonly #namespaces = new Map<string, { namespace: NetworkNamespace; address: string }>()
  readonly #programs: ChildProcess[] = []

  constructor(options?: NetworkOptions) {
    this.network = new Network(options)
  }

  addNode(name: string, address: string): void {
    const namespace = NetworkNamespace.create()
    this.#namespaces.set(name, { namespace, address })
    this.network.attachments.attach(name, address, openTun(namespace, address))
  }

  /** As after a crash: nothing of the old namespace is left to the new one. */
  async restartNode(name: string): Promise<void> {
    const { namespace, address } = this.#namespaces.get(name)!
    namespace.close()
    this.addNode(name, address)
  }

  run<T>(node: string, inside: () => T): T {
    return this.#namespaces.get(node)!.namespace.run(inside)
  }

  /** Starts a program in the node; its output is collected. */
  start(node: string, command: string, ...args: string[]): Program {
    const child = this.run(node, () => spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] }))
    this.#programs.push(child)
    return new Program(child)
  }

  node(node: string, source: string): Program {
    return this.start(node, process.execPath, '-e', source)
  }

  python(node: string, source: string): Program {
    return this.start(node, 'python3', '-u', '-c', source)
  }

  pump(): void {
    while (this.network.kernels.pump() || this.network.kernels.feed());
  }

  /** Pumps, each turn a step that is handled by `act`, until `isDone`. Fails by the test's own time limit. */
  async until(isDone: () => boolean, act: () => void = () => {}): Promise<void> {
    while (!isDone()) {
      this.pump()
      this.network.endStep()
      act()
      this.pump()
      await sleep(1)
    }
  }

  /** Delivers whatever can be, until `isDone`: the network as it is when all goes well. */
  async deliverUntil(isDone: () => boolean, delivered: Message[] = []): Promise<void> {
    await this.until(isDone, () => {
      for (const message of this.network.messages.deliverable()) {
        delivered.push(message)
        this.network.messages.deliver(message)
      }
    })
  }

  /** Waits until exactly these are deliverable; gives up before the test's time is over, to show what was. */
  async untilHeld(...labels: string[]): Promise<readonly Message[]> {
    const found = () => this.network.messages.deliverable().map(message => message.label)
    const deadline = Date.now() + 50_000
    await this.until(() => isDeepStrictEqual(found(), labels) || Date.now() > deadline)
    expect(found()).toEqual(labels)
    return this.network.messages.deliverable()
  }

  async close(): Promise<void> {
    for (const child of this.#programs) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    }
    for (const [name, { namespace }] of this.#namespaces) {
      if (this.network.attachments.isUp(name)) this.network.attachments.detach(name, 'nothing')
      namespace.close()
    }
  }
}

export class Program {
  readonly child: ChildProcess
  output = ''

  constructor(child: ChildProcess) {
    this.child = child
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    }
  }

  said(text: string): boolean {
    return this.output.includes(text)
  }

  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }
}
