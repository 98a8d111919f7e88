/** Prints the figures of held systems. Each is measured by its own process, so that CPUs or memory used by one do not affect the next. */
import { join } from 'node:path'
import { runParts } from './parts.ts'

const here = (name: string, ...args: readonly string[]) => [join(import.meta.dirname, `${name}.js`), ...args]
runParts({
  steps: here('steps'),
  profile: here('profile'),
  checkpoints: here('checkpoints', 'node', '--rounds', '7'),
  cells: here('cells'),
  reduction: here('reduction', '3'),
  critical: here('critical'),
  throughput: here('throughput'),
  // They collect garbage before they measure.
  memory: ['--expose-gc', ...here('memory')],
  consequence: ['--expose-gc', ...here('consequence')],
})
