/** Prints the figures of held systems, each measured by a process of its own: what one pins or fills does not touch the next. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const parts: Record<string, readonly string[]> = {
  steps: [],
  checkpoints: ['node', '--rounds', '7'],
  cells: ['60'],
  reduction: ['3'],
  throughput: [],
  memory: [],
}
const wanted = process.argv.slice(2)
const unknown = wanted.filter(name => !(name in parts))
if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}: there are ${Object.keys(parts).join(', ')}`)
for (const [name, args] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`${name}:`)
  const { status } = spawnSync(process.execPath, ['--expose-gc', join(import.meta.dirname, `${name}.js`), ...args], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
