import type { Message } from '../../proxy/message.ts'
import type { Node } from '../node/node.ts'
import type { Time } from '../timed/time.ts'
import type { TimedHappening } from '../timed/timing.ts'
import { Conversations } from './conversations.ts'
import { describeNotReady } from './findings.ts'

/** Clients do not wait longer for a start, in milliseconds of the run. */
const startMsMax = 60_000

type Join = Extract<TimedHappening, { readonly does: 'join' }>

/**
 * The start of a run, which takes time as all else does. A node with `after` is started when those that it names are ready,
 * and clients call when all nodes are.
 */
export class TimedStart {
  /** Nodes that are to be started, each with those that must be ready before. */
  readonly #later: Map<string, readonly string[]>
  /** Nodes that were started and are not ready. */
  readonly #waiting: Set<string>
  readonly #conversations: Conversations
  /** Nodes that are started now. */
  readonly #due: Join[]
  #endedMs: number | undefined

  private constructor(
    later: Iterable<readonly [string, readonly string[]]>,
    waiting: Iterable<string>,
    conversations = new Conversations(),
    due: readonly Join[] = [],
  ) {
    this.#later = new Map(later)
    this.#waiting = new Set(waiting)
    this.#conversations = conversations
    this.#due = [...due]
  }

  /** @param nodes that are there from the start of the run */
  static of(nodes: readonly Node[]): TimedStart {
    const names = new Set(nodes.map(({ name }) => name))
    const later = nodes.flatMap(({ name, after }) => {
      const awaited = after.filter(each => names.has(each))
      return awaited.length > 0 ? [[name, awaited] as const] : []
    })
    const first = new Map(later)
    return new TimedStart(
      later,
      [...names].filter(name => !first.has(name)),
    )
  }

  copy(): TimedStart {
    const made = new TimedStart(this.#later, this.#waiting, this.#conversations.copy(), this.#due)
    made.#endedMs = this.#endedMs
    return made
  }

  /** Whether a node is not started before others are ready. */
  isLater(name: string): boolean {
    return this.#later.has(name)
  }

  isWaiting(name: string): boolean {
    return this.#waiting.has(name)
  }

  get isOver(): boolean {
    return this.#endedMs !== undefined
  }

  /** When clients may call. */
  get clientsFromMs(): number {
    return this.#endedMs ?? startMsMax
  }

  /** Nodes to start now. */
  get due(): readonly TimedHappening[] {
    return this.#due
  }

  /** Must be called with everything that happens. */
  happens(happening: TimedHappening): void {
    const index = this.#due.indexOf(happening as Join)
    if (index < 0) return
    const [{ node }] = this.#due.splice(index, 1) as [Join]
    this.#waiting.add(node)
  }

  /** Must be called with what was sent in each step until it is over. */
  see(messages: readonly Message[]): void {
    for (const message of messages) this.#conversations.see(message)
  }

  /** Notes who is ready now. */
  becameReady(names: readonly string[], { nowMs }: Pick<Time, 'nowMs'>): void {
    for (const name of names) this.#waiting.delete(name)
    const awaited = new Set([...this.#later.keys(), ...this.#waiting, ...this.#due.map(({ node }) => node)])
    for (const [node, after] of this.#later) {
      if (after.some(each => awaited.has(each))) continue
      this.#later.delete(node)
      this.#due.push({ does: 'join', node, atMs: nowMs })
    }
    if (this.#later.size + this.#waiting.size + this.#due.length === 0) this.#endedMs = nowMs
  }

  /** One sentence for each node that is not ready. */
  describe(nodes: readonly Node[]): string[] {
    return nodes.flatMap(node => {
      const after = this.#later.get(node.name)
      if (after) return [`${node.name} was not started: it is started after ${after.join(' and ')}`]
      if (!this.#waiting.has(node.name) || !node.isAlive) return []
      return [`${node.name} ${describeNotReady(node, this.#conversations.awaitedBy(node.name))}`]
    })
  }
}
