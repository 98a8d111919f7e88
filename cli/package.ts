import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Sources are one directory below it; what is built of them is two below. */
export const packageRoot = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../' : '../../', import.meta.url))

export const version: string = JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')).version
