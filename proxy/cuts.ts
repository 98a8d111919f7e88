import { type Way, wayKey } from './way.ts'

/** The directions between hosts that are cut. Nothing passes there. */
export class Cuts {
  readonly #keys: Set<string>

  constructor(keys: readonly string[] = []) {
    this.#keys = new Set(keys)
  }

  add(way: Way): void {
    this.#keys.add(wayKey(way))
  }

  delete(way: Way): void {
    this.#keys.delete(wayKey(way))
  }

  clear(): void {
    this.#keys.clear()
  }

  has(way: Way): boolean {
    return this.#keys.size > 0 && this.#keys.has(wayKey(way))
  }

  /** As `n1→n2`, in the order in which they were cut. */
  keys(): string[] {
    return [...this.#keys]
  }
}
