import { join } from 'node:path'
import { always, defineSystem, jsonLines } from 'lastnail'

/** A database that may lose its power whenever it was opened. */
export default defineSystem({
  name: 'goleveldb',
  nodes: { store: { command: [join(process.env.SITE ?? '', 'store')] } },
  state: jsonLines<{ readonly opened: boolean }>(),
  faults: { power: 2 },
  properties: { opensAgain: always(s => s.node('store').state?.opened !== false) },
})
