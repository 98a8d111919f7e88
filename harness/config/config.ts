import type { SystemDefinition } from './definition.ts'

export { nearest } from '../../checker/system/nearest.ts'
export * from './definition.ts'
export { ConfigError, NoSuchNode } from './error.ts'
export { readNodes } from './nodes-file.ts'
export { command, jsonFile, jsonLines } from './observers.ts'
export { withAddresses } from './placeholders.ts'
export { always, eventually, history, reach, sometimes } from './properties.ts'
export { type ResolveOptions, resolveSystem } from './resolve.ts'
export * from './resolved.ts'

/** Registered, so that it is the same for every copy of this module in a process. */
const mark = Symbol.for('lastnail.system')

/**
 * Defines the system to check: the default export of a configuration. It is validated later, before anything starts
 * (`resolveSystem`), with one line for each problem.
 */
// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
export const defineSystem = <Name extends string, State = any>(
  definition: SystemDefinition<Name, State>,
): SystemDefinition => ({ ...definition, [mark]: true }) as unknown as SystemDefinition

/** Whether a value was made by `defineSystem`. */
export const isSystemDefinition = (value: unknown): value is SystemDefinition =>
  typeof value === 'object' && value !== null && mark in value
