import { always, defineSystem, jsonLines } from 'lastnail'

/** A database that may lose its power just after it was made. */
export default defineSystem({
  name: 'level',
  nodes: { store: { command: ['node', 'store.cjs'], env: { SITE: process.env.SITE ?? '' } } },
  state: jsonLines<{ readonly opened: boolean }>(),
  faults: { power: 1 },
  properties: { opensAgain: always(s => s.node('store').state?.opened !== false) },
})
