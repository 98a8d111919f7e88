/**
 * Compares nodes in containers with the same nodes as local processes: the time of a start, a reset and a step. It starts its
 * own Docker engine, and ends it.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { cannotRunContainers, startDaemon } from '../test/docker/daemon.ts'
import { importNode } from '../test/docker/images.ts'

const reason = cannotRunContainers()
if (reason !== undefined) throw new Error(reason)
const root = join(import.meta.dirname, '../..')
const daemon = await startDaemon()
try {
  await importNode(daemon.docker, 'node')
  const env = { ...process.env, DOCKER_HOST: daemon.host, NODE_IMAGE: 'node' }
  for (const config of ['lastnail.config.ts', 'containers.config.ts']) {
    console.log(`liferaft, ${config}:`)
    const path = join(root, 'examples/liferaft', config)
    const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'rewinds.js'), path, '--rounds', '10'], {
      stdio: 'inherit',
      env,
    })
    if (status !== 0) process.exitCode = 1
  }
} finally {
  await daemon.stop()
}
