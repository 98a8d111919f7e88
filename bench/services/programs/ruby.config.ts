import { web } from './web.ts'

/** WEBrick: a thread for each connection. */
export default web('ruby', ['ruby', 'webrick.rb'])
