import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findCriu } from '../../../harness/checkpoint/criu.ts'
import type { Cluster } from '../../../harness/cluster.ts'
import { childrenOf } from '../../../harness/hold/held/descendants.ts'
import { clusterOf, directoryWith, stdoutOf } from '../system.ts'
import { hasCriu, withPath } from './criu.ts'
import { walkAlong, walkFrom } from './walks.ts'

const counter = () =>
  clusterOf({
    nodes: { n: { command: ['node', '-e', 'let n = 0; setInterval(() => console.log(++n, Math.random()), 700)'] } },
  })

/** A directory of programs, with those that disks are copied and removed by. */
const withoutCriu = (): string => {
  const directory = directoryWith({})
  for (const name of ['cp', 'rm']) symlinkSync(`/bin/${name}`, join(directory, name))
  return directory
}

/** The same with a `criu` that is this script. */
const criuOf = (script: string): string => {
  const directory = withoutCriu()
  writeFileSync(join(directory, 'criu'), `#!/bin/sh\n${script}\n`)
  chmodSync(join(directory, 'criu'), 0o755)
  return directory
}

/** Saved three steps after the start, without success: nothing is lost, and the state is reached again. */
const expectExecutedAgain = async (cluster: Cluster, lacking: RegExp | string): Promise<void> => {
  expect(await cluster.reset()).toEqual([])
  await walkFrom(cluster, 3, 1)
  const checkpoint = await cluster.checkpoints.save()
  expect(checkpoint.lacking).toMatch(lacking)
  expect(stdoutOf(cluster, 'n')).toHaveLength(3)
  const first = await walkFrom(cluster, 3, 1)
  expect(await cluster.checkpoints.goBack(checkpoint)).toBe(checkpoint.lacking)
  expect(stdoutOf(cluster, 'n')).toHaveLength(3)
  expect(await walkAlong(cluster, first.labels)).toEqual(first)
}

test('without CRIU the way to a state is executed again, and that is said', async () => {
  withPath(withoutCriu())
  await expectExecutedAgain(counter(), /^there is no criu/)
})

test('a CRIU that is too old is not used, and that is said', async () => {
  const cluster = counter()
  withPath(criuOf('echo "Version: 3.17.1"'))
  await expectExecutedAgain(cluster, 'criu is 3.17.1, older than 4.2')
})

describe.skipIf(!hasCriu())('where CRIU fails (needs CRIU)', () => {
  const real = () => findCriu().command.join(' ')

  test('before it begins, the node goes on', async () => {
    const cluster = counter()
    const version = findCriu().version
    withPath(criuOf(`case $1 in --version) echo "Version: ${version}";; *) exit 1;; esac`))
    await expectExecutedAgain(cluster, 'criu dump failed')
    expect(cluster.starts).toBe(1)
  })

  test('half-way, no execution is lost and no process is left', async () => {
    const cluster = counter()
    const criu = real()
    const mine = childrenOf(process.pid).length
    // Killed once the images have begun to be written: its own code may be in the process then.
    const script = `
      case $1 in --version) exec ${criu} "$@";; esac
      ${criu} "$@" & pid=$!
      until [ -e "$3/pstree.img" ] || ! kill -0 $pid; do :; done
      kill -9 $pid; wait $pid; exit 1`
    withPath(criuOf(script))
    await expectExecutedAgain(cluster, 'criu dump failed')
    cluster.close()
    expect(childrenOf(process.pid)).toHaveLength(mine)
  })

  test('to make a node again, the way is executed again', async () => {
    const cluster = counter()
    const criu = real()
    expect(await cluster.reset()).toEqual([])
    await walkFrom(cluster, 3, 1)
    const checkpoint = await cluster.checkpoints.save()
    const first = await walkFrom(cluster, 3, 1)
    withPath(criuOf(`case $1 in restore) exit 1;; *) exec ${criu} "$@";; esac`))
    expect(await cluster.checkpoints.goBack(checkpoint)).toBe('criu restore failed')
    expect(await walkAlong(cluster, first.labels)).toEqual(first)
    await checkpoint.discard()
  })

  test('a process with memory in /dev/shm is not saved, and the way is executed again', () =>
    expectExecutedAgain(
      clusterOf({
        nodes: {
          n: {
            command: [
              'node',
              '-e',
              "require('fs').writeFileSync('/dev/shm/x', ''); let n = 0; setInterval(() => console.log(++n), 700)",
            ],
          },
        },
      }),
      'it has files in /dev/shm',
    ))
})
