/**
 * A topology, its file or a churn plan cannot be used, or a topology cannot answer a question. `problems` has one line
 * each; `message` has all of them.
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

/** The first ten problems, and how many more there are. */
export const firstProblems = (problems: readonly string[]): string[] => {
  const more = problems.length - problemsShown
  return more > 0 ? [...problems.slice(0, problemsShown), `and ${more} more`] : [...problems]
}

const problemsShown = 10

/** `join, leave or heal` */
export const inWords = (texts: readonly string[]): string => alternatives.format(texts)

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' })
