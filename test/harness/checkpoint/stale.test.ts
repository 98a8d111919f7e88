import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRunDirectory, identity, removeAbandoned } from '../../../harness/files/run-directory.ts'
import { runRoot } from '../../../harness/files/run-root.ts'

test('processes that see the files of a run that was killed are ended by the next', async () => {
  const mine = createRunDirectory()
  // While it lives, the next start of any other run leaves its directory alone.
  const maker = spawn('sleep', ['60'])
  const directory = join(runRoot(), `${identity(maker.pid!)}-0`)
  mkdirSync(join(directory, 'upper'), { recursive: true })
  mkdirSync(join(mine, 'place'))
  mkdirSync(join(mine, 'own'))
  const sleeperIn = (source: string) =>
    spawn('unshare', [
      ...['--mount', '--pid', '--fork', '--kill-child'],
      ...['sh', '-c', 'mount --bind "$0" "$1" && echo mounted && exec sleep 60', source, join(mine, 'place')],
    ])
  const left = sleeperIn(join(directory, 'upper'))
  const other = sleeperIn(join(mine, 'own'))
  const ends = once(left, 'exit')
  await Promise.all([once(left.stdout, 'data'), once(other.stdout, 'data')])
  maker.kill()
  await once(maker, 'exit')
  removeAbandoned()
  await ends
  expect(existsSync(directory)).toBe(false)
  expect(other.exitCode).toBe(null)
  expect(other.signalCode).toBe(null)
  other.kill()
})
