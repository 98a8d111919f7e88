import { defineSystem } from 'lastnail'
import local, { nodesOf } from './lastnail.config.ts'

/** Five nodes send datagrams, and one of these may come twice: liferaft counts votes, and not voters. */
export default defineSystem({
  ...local,
  name: 'liferaft-duplicates',
  nodes: nodesOf(['n1', 'n2', 'n3', 'n4', 'n5'], 'node', 'datagrams.js'),
  faults: { duplicate: 1 },
  overlap: 0,
})
