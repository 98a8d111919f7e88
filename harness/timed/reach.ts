import type { HostWayChange } from '../../proxy/forwarding/plan.ts'

/** Which nodes reach which: partitions, cut nodes and cut ways, each undone separately. */
export class Reach {
  readonly #count: number
  /** Each node's group. Nodes of no group form one more. */
  #groups: readonly number[] | undefined
  readonly #nodes = new Set<number>()
  readonly #ways = new Set<number>()
  /** Ways over a link that is down. */
  readonly #broken = new Set<number>()
  readonly #isCut: Uint8Array

  constructor(count: number) {
    this.#count = count
    this.#isCut = new Uint8Array(count * count)
  }

  copy(): Reach {
    const made = new Reach(this.#count)
    made.#groups = this.#groups
    for (const node of this.#nodes) made.#nodes.add(node)
    for (const way of this.#ways) made.#ways.add(way)
    for (const way of this.#broken) made.#broken.add(way)
    made.#isCut.set(this.#isCut)
    return made
  }

  /** Only nodes of the same group reach each other. Nodes of no group form one more. */
  partition(groups: readonly (readonly number[])[]): void {
    this.#groups = Array.from({ length: this.#count }, (_, node) => groups.findIndex(group => group.includes(node)))
  }

  heal(): void {
    this.#groups = undefined
  }

  cutNode(node: number, isCut: boolean): void {
    if (isCut) this.#nodes.add(node)
    else this.#nodes.delete(node)
  }

  cutWay(from: number, to: number, isCut: boolean): void {
    if (isCut) this.#ways.add(from * this.#count + to)
    else this.#ways.delete(from * this.#count + to)
  }

  breakWay(from: number, to: number, isBroken: boolean): void {
    if (isBroken) this.#broken.add(from * this.#count + to)
    else this.#broken.delete(from * this.#count + to)
  }

  /** Changes since the last call. */
  changes(): HostWayChange[] {
    const changes: HostWayChange[] = []
    for (let from = 0; from < this.#count; from++)
      for (let to = 0; to < this.#count; to++) {
        const way = from * this.#count + to
        const isCut = this.#reaches(from, to) ? 0 : 1
        if (from === to || this.#isCut[way] === isCut) continue
        this.#isCut[way] = isCut
        changes.push({ from, to, isCut: isCut === 1 })
      }
    return changes
  }

  #reaches(from: number, to: number): boolean {
    const way = from * this.#count + to
    if (this.#nodes.has(from) || this.#nodes.has(to) || this.#ways.has(way) || this.#broken.has(way)) return false
    return this.#groups === undefined || this.#groups[from] === this.#groups[to]
  }
}
