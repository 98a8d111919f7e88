import { shownList } from './brief.ts'
import type { Finding } from './system.ts'

/** The caller asked for something impossible or passed something wrong: an option, a property, a schedule. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * A node of the service ends, or never opens its ports, before any choice was made, and does so each time. So there is
 * nothing to check.
 */
export class DoesNotStart extends UsageError {
  /** The last lines that the node printed. */
  readonly output: readonly string[]

  constructor({ message, bare }: { readonly message: string; readonly bare?: Finding['bare'] | undefined }) {
    super(`the service does not start: ${bare?.what ?? message}`)
    this.output = bare?.output ?? []
  }
}

/** Thrown if a property could not be decided with reasonable effort. */
export class Undecided extends Error {
  override readonly name = 'Undecided'
}

/** An execution met other choices than its schedule records: the system does not repeat, or it is another system. */
export class Diverged extends Error {
  override readonly name: string = 'Diverged'
  /** The step that could not be executed, counted from 1. */
  readonly step: number
  /** The label recorded for it. */
  readonly expected: string
  /** The labels that were enabled instead. */
  readonly enabled: readonly string[]

  constructor(step: number, expected: string, enabled: readonly string[]) {
    const found =
      enabled.length === 0 ? 'nothing is enabled' : `enabled are ${shownList(enabled.map(label => `"${label}"`))}`
    super(`diverged at step ${step}: expected "${expected}", but ${found}${aboutFrames(expected, enabled)}`)
    this.step = step
    this.expected = expected
    this.enabled = enabled
  }
}

/** The state in which nodes alone begin is lost: no more can be learned of them from there. */
export class MarkLost extends Error {
  override readonly name = 'MarkLost'
}

/** The recorded choices were executed, but a step had another result than recorded. */
export class Differs extends Error {
  override readonly name = 'Differs'
}

/** Earlier versions delivered each frame by itself, so their schedules have a step for each. */
const aboutFrames = (expected: string, enabled: readonly string[]): string =>
  enabled.some(label => label.startsWith(`${expected} | `))
    ? '; it was recorded when each frame of `messages` was a message of its own: what is written together is one message now, so check again to record another'
    : ''

/**
 * An execution that says nothing about the system, because something around it (a client, an observer, the machine)
 * failed.
 */
export class Unfaithful extends Diverged {
  override readonly name = 'Unfaithful'
  /** What failed. */
  readonly what: string
  /** Whether a turn was cut short, at an instruction of chance, which longer turns may avoid. */
  readonly isCutShort: boolean

  constructor(step: number, label: string, what: string, isCutShort = false) {
    super(step, label, [])
    this.what = what
    this.isCutShort = isCutShort
    this.message = `came to an execution that does not count, at step ${step} (${label}): ${what}`
  }
}
