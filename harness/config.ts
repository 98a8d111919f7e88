import type { SystemDefinition } from './config/definition.ts'

export { nearest } from '../checker/nearest.ts'
export * from './config/definition.ts'
export { ConfigError, NoSuchNode } from './config/error.ts'
export { readNodes } from './config/nodes-file.ts'
export { command, jsonFile, jsonLines } from './config/observers.ts'
export { withAddresses } from './config/placeholders.ts'
export { always, eventually, history, reach, sometimes } from './config/properties.ts'
export { type ResolveOptions, resolveSystem } from './config/resolve.ts'
export * from './config/resolved.ts'

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
