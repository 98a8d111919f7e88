import type { Finding } from '../system.ts'

/** A state, or a step, that must not be. */
export interface Violation {
  readonly kind: 'safety' | 'liveness' | 'crash' | 'divergence'
  /** Its name; `undefined` for a crash or a divergence, which no property has to name. */
  readonly property: string | undefined
  /** The step after which it held, counted from 1; 0 is the initial state. */
  readonly step: number
  /** One line for the reader, and those in which the property explains itself. */
  readonly message: string
  /** Of a crash, what happened and the last lines that the node wrote. */
  readonly bare?: Finding['bare']
}

/** The first line of a message, for where it is said in passing. */
export const headline = (message: string): string => message.split('\n', 1)[0]!
