import { setTimeout as sleep } from 'node:timers/promises'
import { Past } from '../clients/past.ts'
import { stateOf } from '../clients/state.ts'
import type { Observer, ResolvedSystem } from '../config/config.ts'
import { type NodeOutputs, outputsOf } from '../files/output.ts'
import type { Look } from '../timed/look.ts'
import type { NativeClients } from './native-clients.ts'
import type { NativeCluster } from './native-cluster.ts'
import { handleOf } from './native-handle.ts'
import { aLook, type NativeNode } from './native-node.ts'

/** An observer that has not seen a node's state after this time, in milliseconds, sees none. */
const patienceMs = 1000

/** How states are observed. `still`: no packet passes, and nodes are stopped unless they must answer. */
export type LookManner = 'still' | 'running'

/** Sees the states of the nodes of a running system. */
export class Looks {
  readonly #cluster: NativeCluster
  readonly #clients: NativeClients
  readonly #observe: Observer | undefined
  readonly #outside: readonly string[]
  readonly #past = new Past()
  readonly #handles = new Map<NativeNode, ReturnType<typeof handleOf>>()

  constructor(cluster: NativeCluster, clients: NativeClients, { observe, outside }: ResolvedSystem) {
    this.#cluster = cluster
    this.#clients = clients
    this.#observe = observe
    this.#outside = outside
  }

  #handleOf(node: NativeNode): ReturnType<typeof handleOf> {
    const known = this.#handles.get(node)
    if (known) return known
    // A node that must answer runs. Packets that the node sends meanwhile stay in the network.
    const handle = handleOf(node, () => node.thaw(aLook))
    this.#handles.set(node, handle)
    return handle
  }

  /**
   * `still` gives a consistent cut: no node has received what another had not yet sent. What `running` gives may never
   * have existed.
   */
  async look(manner: LookManner): Promise<Look> {
    if (manner === 'running') return { ...(await this.#see()), stillMs: 0 }
    const begun = performance.now()
    const seen = await this.#cluster.standStill(() => this.#see())
    return { ...seen, stillMs: performance.now() - begun }
  }

  close(): void {
    for (const handle of this.#handles.values()) handle.close()
  }

  async #see(): Promise<Omit<Look, 'stillMs'>> {
    const unseen: string[] = []
    const outputs: NodeOutputs[] = []
    const nodes = await Promise.all(
      this.#cluster.nodes.map(async node => {
        const { name, isAlive: alive } = node
        outputs.push(...outputsOf(node))
        const state = alive ? await this.#stateOf(node).catch(() => void unseen.push(name)) : undefined
        return { name, alive, state, output: node.output() }
      }),
    )
    for (const { name, state } of nodes) this.#past.see(name, state, JSON.stringify(state))
    const past = new Map(nodes.map(({ name }) => [name, this.#past.of(name)]))
    const pastOf = (node: string) => past.get(node)!
    const state = stateOf(nodes, this.#clients.calls, this.#clients.history, pastOf, this.#outside)
    return { state, outputs, unseen }
  }

  async #stateOf(node: NativeNode): Promise<unknown> {
    const seen = this.#observe?.(this.#handleOf(node))
    if (!(seen instanceof Promise)) return seen
    const given = new AbortController()
    const late = sleep(patienceMs, undefined, { signal: given.signal }).then(() => {
      throw new Error(`the observer of ${node.name} is still waiting after ${patienceMs} ms`)
    })
    late.catch(() => undefined)
    return Promise.race([seen, late]).finally(() => given.abort())
  }
}
