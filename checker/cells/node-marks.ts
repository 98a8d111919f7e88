import type { NodeMark, NodeSight } from '../system/node-system.ts'

/** A state of a node that was marked. */
export interface Marked {
  readonly mark: NodeMark
  readonly sight: NodeSight
}

/**
 * At most this many marks are kept, and this many bytes. Each takes the memory that its node has written since its last
 * mark, some hundred kilobytes to a megabyte, and all that processes have which were made since.
 */
const marksMax = 400
const bytesMax = 1 << 28
/** Lives with marks at most, besides one of each node. Each life takes the memory of its processes. */
const livesMoreMax = 16
/** Fingerprints of states that are remembered at most. */
const seenMax = 100_000

interface Kept {
  readonly node: string
  readonly marked: Marked
  readonly looks: string
}

/** Marked states of nodes alone, by the way to them. Those that were not used for longest are discarded. */
export class NodeMarks {
  /** The one that was used last is last. */
  readonly #kept = new Map<string, Kept>()
  readonly #seen = new Set<string>()
  readonly #nodes = new Set<string>()
  #bytes = 0

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /** Whether a state that looks like this is marked, or was. */
  hasSeen(looks: string): boolean {
    return this.#seen.has(looks)
  }

  /** A state that looks like this cannot be marked: it is not tried again. */
  cannotBe(looks: string): void {
    this.#seen.add(looks)
  }

  get(key: string): Marked | undefined {
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    this.#kept.delete(key)
    if (kept.marked.mark.isLost) {
      this.#drop(kept)
      return undefined
    }
    this.#kept.set(key, kept)
    return kept.marked
  }

  add(key: string, node: string, looks: string, marked: Marked): void {
    this.#kept.set(key, { node, marked, looks })
    this.#nodes.add(node)
    if (this.#seen.size < seenMax) this.#seen.add(looks)
    this.#bytes += marked.mark.bytes
    this.#limitLives()
    if (this.#isTooMuch) this.#dropLost()
    for (const oldest of this.#kept.keys()) {
      if (!this.#isTooMuch) return
      this.delete(oldest)
    }
  }

  /** One is kept, whatever it takes. */
  get #isTooMuch(): boolean {
    return this.#kept.size > marksMax || (this.#bytes > bytesMax && this.#kept.size > 1)
  }

  #dropLost(): void {
    for (const [key, { marked }] of this.#kept) if (marked.mark.isLost) this.delete(key)
  }

  delete(key: string): void {
    const kept = this.#kept.get(key)
    this.#kept.delete(key)
    if (kept) this.#drop(kept)
  }

  clear(): void {
    for (const key of [...this.#kept.keys()]) this.delete(key)
    this.#seen.clear()
  }

  /** Ends the lives that were not used for longest, if there are too many; of each node the last one stays. */
  #limitLives(): void {
    const lives = new Map<unknown, string>()
    for (const { node, marked } of [...this.#kept.values()].reverse()) lives.set(marked.mark.life, node)
    const excess = lives.size - livesMoreMax - this.#nodes.size
    if (excess <= 0) return
    const latest = new Set<string>()
    const others = [...lives].filter(([, node]) => latest.has(node) || !latest.add(node))
    const gone = new Set(others.slice(-excess).map(([life]) => life))
    for (const [key, { marked }] of [...this.#kept]) if (gone.has(marked.mark.life)) this.delete(key)
  }

  #drop({ marked, looks }: Kept): void {
    marked.mark.discard()
    this.#bytes -= marked.mark.bytes
    this.#seen.delete(looks)
  }
}
