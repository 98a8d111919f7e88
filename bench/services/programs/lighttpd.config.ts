import { web } from './web.ts'

/** lighttpd: one process that never blocks. */
export default web('lighttpd', ['lighttpd', '-D', '-f', 'lighttpd.conf'])
