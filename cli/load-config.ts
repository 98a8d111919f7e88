import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import type { SystemDefinition } from '../harness/config.ts'
import { ConfigError, isSystemDefinition } from '../harness/config.ts'

/** The library that a configuration imports: this package's own, whether or not it is installed where the file lies. */
const library = new URL(`../index${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href
