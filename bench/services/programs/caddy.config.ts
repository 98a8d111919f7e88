import { web } from './web.ts'

/** Caddy, which compresses what it answers. */
export default web('caddy', ['cache/bin/caddy', 'respond', '--listen', ':8000', '{http.request.method}'])
