import { web } from './web.ts'

/** PHP's own server. */
export default web('php', ['php', '-S', '0.0.0.0:8000', 'counted.php'])
