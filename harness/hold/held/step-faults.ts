import type { CallFault } from '../../../checker/happening/call-faults.ts'
import type { DiskFailure } from '../../../checker/happening/disk-failures.ts'
import type { Preemption } from '../../../checker/happening/preemptions.ts'
import type { SplitPlace } from '../../../proxy/borders.ts'
import type { Remainder } from '../../unsynced/outcomes.ts'

/** The power fails just before the node's n-th sync or send from now, in whichever step. */
export interface PowerFailure {
  readonly before: number
  readonly leaves: Remainder
}

/** The kinds of faults that strike a node in a step to come: at a system call that it makes there, or by a message. */
export interface StepFaults {
  readonly disk: DiskFailure
  readonly preempt: Preemption
  readonly calls: CallFault
  readonly power: PowerFailure
  /** The next message on a connection arrives in two parts. */
  readonly split: SplitPlace
}

export type StepFaultKind = keyof StepFaults

export type StepFault = {
  readonly [Kind in StepFaultKind]: { readonly kind: Kind; readonly fault: StepFaults[Kind] }
}[StepFaultKind]

/** How a fingerprint names each of them, while it waits. Traces have fingerprints, so these texts must stay. */
const outlines: { readonly [Kind in StepFaultKind]: (fault: StepFaults[Kind]) => string } = {
  disk: fault => `with disk ${JSON.stringify(fault)}`,
  preempt: fault => `preempted ${JSON.stringify(fault)}`,
  calls: fault => `with calls ${JSON.stringify(fault)}`,
  power: ({ before, leaves }) => `until ${before} ${leaves}`,
  split: place => `split at ${place}`,
}

export const stepFaultKinds = Object.keys(outlines) as readonly StepFaultKind[]

export const isStepFault = (kind: string): kind is StepFaultKind => Object.hasOwn(outlines, kind)

interface Waiting {
  readonly fault: StepFaults[StepFaultKind]
  /** How many calls were made since at which it might have struck. */
  calls: number
}

/** The faults that wait for a node's system calls, at most one of each kind. */
export class WaitingFaults {
  readonly #waiting = new Map<StepFaultKind, Waiting>()
  /** While somebody looks at the node, none strikes: what it then does is no part of the execution. */
  areAside = false

  /** The waiting fault of this kind, if it may strike now; undefined if there is none. */
  get<Kind extends StepFaultKind>(kind: Kind): StepFaults[Kind] | undefined {
    if (this.areAside) return undefined
    return this.#waiting.get(kind)?.fault as StepFaults[Kind] | undefined
  }

  set<Kind extends StepFaultKind>(kind: Kind, fault: StepFaults[Kind]): void {
    this.#waiting.set(kind, { fault, calls: 0 })
  }

  /** The fault of this kind has struck. */
  delete(kind: StepFaultKind): void {
    this.#waiting.delete(kind)
  }

  /** Counts a call at which the fault of this kind may strike. Returns how many there were. It ends with the present step. */
  countCall(kind: StepFaultKind): number {
    const waiting = this.#waiting.get(kind)!
    waiting.calls += 1
    return waiting.calls
  }

  /** A step is over in which the node may have done something. */
  endStep(): void {
    for (const [kind, { calls }] of this.#waiting) if (calls > 0) this.#waiting.delete(kind)
  }

  /** Empty if there are none. */
  get outline(): string {
    const outlineOf = outlines as Readonly<Record<StepFaultKind, (fault: unknown) => string>>
    return stepFaultKinds
      .filter(kind => this.#waiting.has(kind))
      .map(kind => outlineOf[kind](this.#waiting.get(kind)!.fault))
      .join(' ')
  }

  /** A copy of a quiescent node's: of a step that is over, no call counts. */
  mark(): Partial<StepFaults> {
    return Object.fromEntries([...this.#waiting].map(([kind, { fault }]) => [kind, fault]))
  }

  rewind(mark: Partial<StepFaults>): void {
    this.#waiting.clear()
    for (const kind of stepFaultKinds) if (mark[kind]) this.set(kind, mark[kind])
  }
}
