/**
 * Names that mean one host now and may mean another one later, as those of a DNS server that an operator or a failover changes. A
 * host that has asked before may remember the other address.
 */
export class ChangingNames {
  readonly #meant: Map<string, string>

  /** @param meant the host that each name means, by the name in small letters */
  constructor(meant: Readonly<Record<string, string>>) {
    this.#meant = new Map(Object.entries(meant))
  }

  get isEmpty(): boolean {
    return this.#meant.size === 0
  }

  /** The host that it means; undefined if it is no such name. */
  hostOf(name: string): string | undefined {
    return this.#meant.get(name)
  }

  /** From here on it means another host. @throws Error for an unknown name */
  point(name: string, host: string): void {
    if (!this.#meant.has(name)) throw new Error(`there is no name ${name}`)
    this.#meant.set(name, host)
  }

  /** What each means, in the order of the configuration. */
  all(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#meant)
  }
}
