import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The package that this is part of, built or not. */
export const packageRoot = dirname(createRequire(import.meta.url).resolve('lastnail/package.json'))

/** @param system by its directory under `examples/` */
export const configOf = (system: string): string => join(packageRoot, 'examples', system, 'lastnail.config.ts')
