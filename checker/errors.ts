import type { Finding } from './system.ts'

/** The caller asked for something impossible, or gave something wrong: an option, a property, a schedule. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A service of which a node ends, or stays closed, before anything was chosen, each time: there is nothing to check. */
export class DoesNotStart extends UsageError {
  /** The last lines that the node wrote. */
  readonly output: readonly string[]

  constructor({ message, bare }: { readonly message: string; readonly bare?: Finding['bare'] | undefined }) {
    super(`the service does not start: ${bare?.what ?? message}`)
    this.output = bare?.output ?? []
  }
}

/** Whether a property holds in a state could not be told with a reasonable effort: nothing is known of this execution. */
export class Undecided extends Error {
  override readonly name = 'Undecided'
}

/** A recorded schedule met other choices than it recorded: the system does not repeat, or it is not the same system. */
export class Diverged extends Error {
  override readonly name: string = 'Diverged'
  /** The step that could not be executed, counted from 1. */
  readonly step: number
  /** The label that was recorded for it. */
  readonly expected: string
  /** The labels that were enabled instead. */
  readonly enabled: readonly string[]

  constructor(step: number, expected: string, enabled: readonly string[]) {
    const found = enabled.length === 0 ? 'nothing is enabled' : `enabled are ${enabled.map(l => `"${l}"`).join(', ')}`
    super(`diverged at step ${step}: expected "${expected}", but ${found}`)
    this.step = step
    this.expected = expected
    this.enabled = enabled
  }
}

/** An execution that does not count, and says nothing about the system: what surrounds it did not do its part. */
export class Unfaithful extends Diverged {
  override readonly name = 'Unfaithful'
  /** What was not done. */
  readonly what: string

  constructor(step: number, label: string, what: string) {
    super(step, label, [])
    this.what = what
    this.message = `came to an execution that does not count, at step ${step} (${label}): ${what}`
  }
}
