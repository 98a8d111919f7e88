/**
 * By label, the step of an execution after which it was first enabled. Executions that continue from a saved state share
 * what was noted before it, because a run may have hundreds of thousands of steps by then.
 */
export class Offers {
  /** Of labels that were first enabled before the latest mark. It is never written again. */
  #before: Offers | undefined
  #own = new Map<string, number>()

  get(label: string): number | undefined {
    return this.#own.get(label) ?? this.#before?.get(label)
  }

  /** Notes that a label is enabled after a step. Only its first step counts. */
  note(label: string, step: number): void {
    if (this.get(label) === undefined) this.#own.set(label, step)
  }

  /** A frozen copy for a mark. Layers are merged so that each is larger than the next: few to search. */
  settled(): Offers {
    const before = this.#before
    if (before === undefined || before.#own.size > this.#own.size) return this
    const merged = new Offers()
    merged.#before = before.#before
    merged.#own = new Map([...before.#own, ...this.#own])
    return merged.settled()
  }

  /** A copy that can be added to. */
  next(): Offers {
    const next = new Offers()
    next.#before = this
    return next
  }
}
