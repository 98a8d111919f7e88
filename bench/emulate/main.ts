/** Prints every figure of emulated runs, each measured by its own process. The experiment at the pace native alone takes ten minutes. */
import { join } from 'node:path'
import { runParts } from '../parts.ts'

const here = (name: string) => [join(import.meta.dirname, `${name}.js`)]
const parts: Record<string, readonly string[]> = {
  accuracy: here('accuracy'),
  shaping: here('shaping'),
  disciplines: here('disciplines'),
  paces: here('paces'),
  iperf: here('iperf'),
  swarm: here('swarm'),
  speed: here('speed'),
  recording: here('recording'),
  predicates: here('predicates'),
  'live-prefixes': here('live-prefixes'),
  throughput: here('throughput'),
  growth: here('growth'),
  scale: here('scale'),
  thousand: here('thousand'),
  experiment: here('experiment'),
}
runParts(parts)
