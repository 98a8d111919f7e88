import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import PQueue from 'p-queue'
import { UsageError } from '../../checker/system/errors.ts'
import { endConnections, hasPeer } from '../../linux/tcp-table.ts'
import { setOffloads } from '../../linux/tun.ts'
import type { ForwardedCounts } from '../../proxy/forwarding/counters.ts'
import { treatsAllAlike } from '../../proxy/forwarding/pipe.ts'
import { Plane } from '../../proxy/forwarding/plane.ts'
import type { Manner } from '../../topologies/churn/plan.ts'
import { noNode } from '../clients/state.ts'
import type { ResolvedSystem } from '../config/config.ts'
import { hostName } from '../config/schema.ts'
import { createRunDirectory, removeRunDirectory } from '../files/run-directory.ts'
import { SharedDirectories } from '../files/shared-directories.ts'
import { addSharedHost } from '../files/shared-files.ts'
import { unlessInterrupted } from '../hold/turns/interruption.ts'
import { nodeAddress, planLike, plansOf } from '../node/plans.ts'
import type { NodePlan } from '../node/runtime.ts'
import { type LinkChange, Links, noTopology } from '../timed/links.ts'
import type { LinkTotal } from '../timed/loads.ts'
import { Reach } from '../timed/reach.ts'
import type { WaySetting } from '../timed/timing.ts'
import { mergeSetting } from '../timed/way-settings.ts'
import { planOf, type Wired, type Wiring } from '../timed/wiring.ts'
import type { Ending } from './ending.ts'
import { LocalLives } from './local-lives.ts'
import { aLook, NativeNode } from './native-node.ts'
import type { NativeEngine } from './native-runtime.ts'
import { spareNames, sparesMax } from './spares.ts'

/** A program that was asked to end is killed after this time, in milliseconds. */
const graceMs = 5000
const pollMs = 5

/** A system that runs in real time over an emulated network. At first no node runs; nodes join. */
export class NativeCluster {
  readonly #nodes: NativeNode[]
  /** What of the topology is left out, one sentence each. */
  readonly notes: readonly string[]
  /** Called for each node that ends without being told to. */
  onEnd: (node: NativeNode, ending: Ending) => void = () => undefined
  readonly #directory: string
  readonly #plane: Plane
  readonly #reach: Reach
  readonly #links: Links | undefined
  /** Settings of directions, by `from→to`. */
  readonly #settings = new Map<string, WaySetting>()
  #groups: readonly (readonly string[])[] | null = null
  /** Nodes that were told to end, and who waits for that. */
  readonly #leaving = new Map<NativeNode, () => void>()
  readonly #isCut = new Set<NativeNode>()
  readonly #reap = () => this.#notice()

  readonly #additions = new PQueue({ concurrency: 1 })
  readonly #engine: NativeEngine | undefined
  /** Names in the plan of the network of those that may still be added. */
  readonly #spare: string[]
  /** How many nodes the configuration has. */
  readonly #givenCount: number
  #haveOffloads = false

  private constructor(
    nodes: readonly NativeNode[],
    directory: string,
    { notes, links, ...plan }: Wired,
    added: {
      readonly spare: readonly string[]
      readonly engine: NativeEngine | undefined
    },
  ) {
    this.#nodes = [...nodes]
    this.#spare = [...added.spare]
    this.#givenCount = nodes.length
    this.#engine = added.engine
    this.notes = notes
    this.#directory = directory
    if (plan.pipes.every(treatsAllAlike)) this.#setOffloads(true)
    this.#plane = new Plane(plan, nodes)
    this.#reach = new Reach(plan.addresses.length)
    this.#links = links && new Links(links, plan.routes)
    process.on('SIGCHLD', this.#reap)
  }

  /**
   * @param engine runs the nodes with an image
   *
   * @throws ConfigError if a program is not found
   *
   * @throws TopologyError if the topology has no place for the nodes
   *
   * @throws SystemError
   */
  static async open(system: ResolvedSystem, wiring: Wiring, engine?: NativeEngine): Promise<NativeCluster> {
    const directory = createRunDirectory()
    const nodes: NativeNode[] = []
    try {
      const shared = new SharedDirectories(join(directory, 'shared'), system.nodes)
      shared.renew()
      const plans = plansOf(system, directory, shared, { hasResolver: false })
      const spare = spareNames(system.nodes, wiring.topology).map((name, index) => ({
        name,
        address: nodeAddress(plans.length + index),
      }))
      const wired = planOf(
        plans.map(({ definition: { name }, address }) => ({ name, address })),
        wiring,
        spare,
      )
      for (const plan of plans) nodes.push(await unlessInterrupted(openNode(plan, engine)))
      return new NativeCluster(nodes, directory, wired, {
        engine,
        spare: spare.map(({ name }) => name),
      })
    } catch (error) {
      for (const node of nodes) node.close()
      removeRunDirectory(directory)
      throw error
    }
  }

  get nodes(): readonly NativeNode[] {
    return this.#nodes
  }

  /**
   * Adds a node, which begins when it joins. Others find it by its name.
   *
   * @param like the name of another one, whose program it runs
   *
   * @throws UsageError for a wrong or known name, and where the network has no place for more
   */
  add(name: string, like: string): Promise<NativeNode> {
    // One that begins while another is under way would take the same address.
    return this.#additions.add(() => this.#add(name, like))
  }

  async #add(name: string, like: string): Promise<NativeNode> {
    const model = this.node(like)
    if (!hostName.test(name))
      throw new UsageError(
        `expected a name of letters, digits and inner hyphens, since it is a host name, found ${name}`,
      )
    if (this.nodes.some(node => node.name === name)) throw new UsageError(`there is a node ${name} already`)
    const [spare] = this.#spare
    if (spare === undefined)
      throw new UsageError(
        this.#nodes.length === this.#givenCount
          ? 'the topology has a client for each node of the configuration, and no place for another'
          : `${sparesMax} nodes were added: there is no place for more`,
      )
    const plan = planLike(
      model.plan,
      name,
      this.#nodes.map(each => each.plan),
    )
    const node = await openNode(plan, this.#engine)
    if (this.#haveOffloads) setOffloads(node.descriptor, true)
    await this.#plane.add(node)
    this.#spare.shift()
    this.#links?.rename(spare, name)
    this.#nodes.push(node)
    addSharedHost(plan.files, { address: plan.address, names: [name] })
    return node
  }

  /** Rejects if the network fails. */
  get failed(): Promise<never> {
    return this.#plane.failed
  }

  get counts(): ForwardedCounts {
    return this.#plane.counts
  }

  /** Whether its links were taken away. */
  isCut(node: NativeNode): boolean {
    return this.#isCut.has(node)
  }

  /** Settings that were set and not cleared. */
  settings(): readonly WaySetting[] {
    return [...this.#settings.values()]
  }

  /** How links of the topology differ from what they were at the start. */
  get linkChanges(): readonly LinkChange[] {
    return this.#links?.changes ?? []
  }

  /** What each link has carried so far; none without a topology. */
  get carried(): readonly LinkTotal[] {
    const carried = this.#links?.carried(this.#plane.carried) ?? []
    return carried.filter(({ from, to }) => !this.#spare.includes(from) && !this.#spare.includes(to))
  }

  /** Groups of the present partition; null if there is none. */
  get groups(): readonly (readonly string[])[] | null {
    return this.#groups
  }

  /** Starts a node, or restores its links. */
  async join(name: string): Promise<void> {
    const node = this.node(name)
    if (this.#isCut.has(node)) {
      this.#isCut.delete(node)
      this.#reach.cutNode(this.#indexOf(node), false)
      await this.#apply()
    }
    while (this.#leaving.has(node)) await sleep(pollMs)
    await node.start(this.#reap)
  }

  #cut(node: NativeNode): Promise<void> {
    this.#isCut.add(node)
    this.#reach.cutNode(this.#indexOf(node), true)
    return this.#apply()
  }

  /** Unless it is only cut, resolves when it has ended. */
  async leave(name: string, manner: Manner): Promise<void> {
    const node = this.node(name)
    if (manner === 'cut') return this.#cut(node)
    await node.settled()
    if (!node.isAlive) return
    // What its kernel says at the end of its program is lost.
    if (manner === 'power') await this.#cut(node)
    const end = new Promise<void>(resolve => this.#leaving.set(node, resolve))
    if (manner === 'stop') node.stop()
    else node.kill()
    const killing = setTimeout(() => node.kill(), graceMs)
    // A child may have ended before there was a listener.
    const looking = setInterval(this.#reap, 20 * pollMs)
    await end
    clearTimeout(killing)
    clearInterval(looking)
  }

  /** Only nodes of the same group reach each other. Nodes without a group form another one. */
  async partition(groups: readonly (readonly string[])[]): Promise<void> {
    this.#reach.partition(groups.map(group => group.map(name => this.#indexOf(this.node(name)))))
    this.#groups = groups
    await this.#apply()
  }

  async heal(): Promise<void> {
    this.#reach.heal()
    this.#groups = null
    await this.#apply()
  }

  /** Applies all of them at once, between two packets, also to existing connections. */
  async set(settings: readonly WaySetting[]): Promise<void> {
    const ways = settings.map(({ from, to }) => ({
      from: this.#indexOf(this.node(from)),
      to: this.#indexOf(this.node(to)),
    }))
    const changes = settings.map(({ pipe, isCut }, index) => {
      const way = ways[index]!
      if (isCut !== undefined) this.#reach.cutWay(way.from, way.to, isCut)
      return { ...way, ...(pipe !== undefined && { extra: pipe }) }
    })
    if (settings.some(({ pipe }) => pipe && !treatsAllAlike(pipe))) this.#setOffloads(false)
    for (const setting of settings) mergeSetting(this.#settings, setting)
    await this.#plane.change([...changes, ...this.#reach.changes()])
  }

  /** A link of the topology does something else to packets. @throws UsageError for one that cannot be changed so */
  async changeLink(change: LinkChange): Promise<void> {
    this.requireLink(change)
    const { pipes, ways } = this.#links!.change(change)
    if (pipes.some(({ settings }) => !treatsAllAlike(settings))) this.#setOffloads(false)
    for (const { from, to, isBroken } of ways) this.#reach.breakWay(from, to, isBroken)
    await this.#plane.change(this.#reach.changes(), pipes)
  }

  /** @throws UsageError for a link that cannot be changed so */
  requireLink(change: LinkChange): void {
    if (this.#links === undefined) throw noTopology()
    this.#links.require(change)
  }

  /**
   * Resets the TCP connections between two nodes.
   *
   * @throws UsageError if this kernel cannot do it
   */
  reset(one: string, other: string): void {
    const [first, second] = [this.node(one), this.node(other)]
    const isDone = [
      endConnections(first.namespace, hasPeer(second.address)),
      endConnections(second.namespace, hasPeer(first.address)),
    ]
    if (!isDone.every(Boolean)) throw new UsageError('this kernel cannot reset connections (CONFIG_INET_DIAG_DESTROY)')
  }

  /** Stops time between nodes and inside of them while something is done. */
  async standStill<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#plane.pause()
    try {
      for (const node of this.nodes) node.freeze(aLook)
      return await work()
    } finally {
      for (const node of this.nodes) node.thaw(aLook)
      await this.#plane.resume()
    }
  }

  /** @throws UsageError for an unknown name */
  node(name: string): NativeNode {
    const node = this.nodes.find(each => each.name === name)
    if (node) return node
    throw new UsageError(noNode(name, this.nodes))
  }

  /** Ends everything and leaves nothing behind. */
  async close(): Promise<void> {
    this.onEnd = () => undefined
    for (const node of this.nodes) {
      await unlessInterrupted(node.settled()).catch(() => undefined)
      node.kill()
    }
    while (this.nodes.some(({ isAlive }) => isAlive)) {
      this.#notice()
      await sleep(pollMs)
    }
    process.off('SIGCHLD', this.#reap)
    await this.#plane.end().catch(() => undefined)
    for (const node of this.nodes) node.close()
    removeRunDirectory(this.#directory)
  }

  #notice(): void {
    for (const node of this.nodes) {
      const ending = node.ending()
      if (ending === undefined) continue
      const told = this.#leaving.get(node)
      this.#leaving.delete(node)
      if (told) told()
      else this.onEnd(node, ending)
    }
  }

  #setOffloads(areOn: boolean): void {
    this.#haveOffloads = areOn
    for (const { descriptor } of this.nodes) setOffloads(descriptor, areOn)
  }

  #apply(): Promise<void> {
    return this.#plane.change(this.#reach.changes())
  }

  #indexOf(node: NativeNode): number {
    return this.nodes.indexOf(node)
  }
}

const openNode = async (plan: NodePlan, engine: NativeEngine | undefined): Promise<NativeNode> => {
  const runtime = plan.definition.image === undefined ? new LocalLives(plan) : await engine!.nativeRuntime(plan)
  try {
    return new NativeNode(plan, runtime)
  } catch (error) {
    runtime.close()
    throw error
  }
}
