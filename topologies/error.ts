/**
 * A topology, a file of one or a plan of churn that cannot be used, or a question that it cannot answer. `problems` are
 * one line each, `message` is all of them.
 */
export class TopologyError extends Error {
  override readonly name = 'TopologyError'
  readonly problems: readonly string[]

  constructor(problems: string | readonly string[], options?: ErrorOptions) {
    const lines = [problems].flat()
    super(lines.join('\n'), options)
    this.problems = lines
  }
}
