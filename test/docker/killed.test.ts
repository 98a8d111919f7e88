import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cannotRunContainers, startDaemon } from './daemon.ts'
import { importNode } from './images.ts'

const script = join(import.meta.dirname, '../../scripts/killed.mjs')
const times = Number(process.env.LASTNAIL_KILLS ?? 2)
const reason = cannotRunContainers()

describe.skipIf(reason)(`kill -9${reason ? ` (needs Docker: ${reason})` : ''}`, () => {
  test('of a command with containers leaves nothing after the next start', {
    timeout: 60_000 + 30_000 * times,
  }, async () => {
    const daemon = await startDaemon()
    onTestFinished(() => daemon.stop())
    await importNode(daemon.docker, 'node')
    const args = [script, '--containers', '--times', String(times), '--seed', String(Date.now() % 1000)]
    const { all, exitCode } = await execa(process.execPath, args, {
      reject: false,
      all: true,
      env: { DOCKER_HOST: daemon.host },
    })
    if (times > 2) console.log(all)
    expect(all).toMatch(/^\d+ kills over 2 commands .* after the next start something was left 0 times;/)
    expect(exitCode).toBe(0)
  })
})
