import type { Finding } from '../system/system.ts'

/** What may be found: a property that does not hold, or something that counts without any. */
export const violationKinds = ['safety', 'liveness', 'divergence', 'crash'] as const

export type ViolationKind = (typeof violationKinds)[number]

/** A state or step that violates a property, or a crash or divergence. */
export interface Violation {
  readonly kind: ViolationKind
  /** Name of the property; `undefined` for a crash or divergence. */
  readonly property: string | undefined
  /** The step after which it appeared, counted from 1; 0 is the initial state. */
  readonly step: number
  /** One line for the reader, followed by the property's explanation. */
  readonly message: string
  /** For a crash: what happened, and the last lines that the node printed. */
  readonly bare?: Finding['bare']
}

/** The first line of a message. */
export const headline = (message: string): string => message.split('\n', 1)[0]!
