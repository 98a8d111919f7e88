/** Prints the figures of held systems, each measured by a process of its own: what one pins or fills does not touch the next. */
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
  // It collects garbage before it looks.
  memory: ['--expose-gc', ...here('memory')],
})
