/** Prints every figure of live runs, each measured by a process of its own. The experiment takes ten minutes by itself. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const here = (name: string) => [join(import.meta.dirname, `${name}.js`)]
const root = join(import.meta.dirname, '../../..')
const experiment = [join(root, 'bin/lastnail.js'), 'emulate', join(root, 'examples/churn/lastnail.config.ts')]
const parts: Record<string, readonly string[]> = {
  accuracy: here('accuracy'),
  shaping: here('shaping'),
  throughput: here('throughput'),
  growth: here('growth'),
  scale: here('scale'),
  experiment,
}
const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !(name in parts))
if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}: there are ${Object.keys(parts).join(', ')}`)
for (const [name, args] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`${name}:`)
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  // A run of the experiment may have seen what must not be.
  if (status !== 0 && name !== 'experiment') process.exitCode = 1
}
