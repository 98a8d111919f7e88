import { readFileSync } from 'node:fs'

/** `package.json` lies beside the sources, and one above what is built of them. */
const manifest = new URL(import.meta.url.endsWith('.ts') ? '../package.json' : '../../package.json', import.meta.url)

export const version: string = JSON.parse(readFileSync(manifest, 'utf8')).version
