/** Prints every figure of emulated runs, each measured by its own process. The experiment alone takes ten minutes. */
import { join } from 'node:path'
import { runParts } from '../parts.ts'

const here = (name: string) => [join(import.meta.dirname, `${name}.js`)]
const root = join(import.meta.dirname, '../../..')
const experiment = [
  join(root, 'bin/lastnail.js'),
  'emulate',
  join(root, 'examples/churn/lastnail.config.ts'),
  '--pace',
  'native',
]
const parts: Record<string, readonly string[]> = {
  accuracy: here('accuracy'),
  shaping: here('shaping'),
  paces: here('paces'),
  speed: here('speed'),
  recording: here('recording'),
  predicates: here('predicates'),
  'live-prefixes': here('live-prefixes'),
  throughput: here('throughput'),
  growth: here('growth'),
  scale: here('scale'),
  experiment,
}
// A run of the experiment may have met a violation, and then its exit code is not 0.
runParts(parts, 'experiment')
