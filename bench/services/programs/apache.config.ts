import { web } from './web.ts'

/** Apache httpd: processes with many threads each, which share memory. */
export default web('apache', ['apache2', '-d', '.', '-f', 'apache.conf', '-DFOREGROUND'])
