/** Prints every figure, each measured by a process of its own: what one pins or fills does not touch the next. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

for (const measure of ['steps', 'throughput', 'memory']) {
  const { status } = spawnSync(process.execPath, ['--expose-gc', join(import.meta.dirname, `${measure}.js`)], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
