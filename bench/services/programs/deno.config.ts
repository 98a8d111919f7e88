import { web } from './web.ts'

/** Deno, whose network is Rust's tokio. */
export default web('deno', ['cache/node_modules/.bin/deno', 'run', '-A', 'deno.mjs'])
