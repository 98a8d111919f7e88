import { readFileSync } from 'node:fs'

/** `package.json` is beside the sources, and one directory above their compiled form. */
const manifest = new URL(import.meta.url.endsWith('.ts') ? '../package.json' : '../../package.json', import.meta.url)

export const version: string = JSON.parse(readFileSync(manifest, 'utf8')).version
