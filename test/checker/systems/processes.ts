import type { Processes } from '../../../checker/system/processes.ts'

/** What a test says of them; nothing else is real. */
export const processes = (real: Partial<Processes>): Processes => ({
  endBy: () => {},
  setPatience: () => {},
  disturbance: () => undefined,
  audit: async () => {},
  stopRewinding: () => true,
  endLives: () => {},
  lengthenTurns: () => false,
  ...real,
})
