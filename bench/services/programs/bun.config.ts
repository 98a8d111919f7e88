import { web } from './web.ts'

/** Bun, which has another engine than Node.js. */
export default web('bun', ['cache/node_modules/.bin/bun', 'bun.mjs'])
