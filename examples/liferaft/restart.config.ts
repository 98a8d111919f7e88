import { defineSystem } from 'lastnail'
import local from './lastnail.config.ts'

/** Messages reach a node one by one, and one node may end and be started again: liferaft keeps its vote in memory. */
export default defineSystem({ ...local, name: 'liferaft-restart', faults: { crash: 1 }, overlap: 0 })
