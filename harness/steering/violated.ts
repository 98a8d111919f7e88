/** A program has failed. */
export const crash = Symbol('crash')

/** What a step violates: a property, by its name, or that no program fails. */
export type ViolatedProperty = string | typeof crash
