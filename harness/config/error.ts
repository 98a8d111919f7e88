/** A configuration that cannot be used. `problems` has one line each; `message` has all of them. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options)
    this.problems = problems
  }
}

/** A client or observer uses a node that its handles do not have. */
export class NoSuchNode extends ConfigError {
  override readonly name = 'NoSuchNode'
  /** As the configuration names it: `clients.put`. */
  readonly who: string

  constructor(who: string, node: string, known: string) {
    super([`${who}: there is no node ${node}; ${known}`])
    this.who = who
  }
}
