import { describe, expect, test } from 'vitest'
import type { NodeDefinition, NodeHandle } from '../../../harness/config/config.ts'
import { clusterOf, stdoutOf } from '../system.ts'
import { asked, askedNatively, withSecret } from './asked.ts'

const isRoot = process.getuid!() === 0

const waiting = 'echo up; exec sleep 1000000'
const environment = { command: ['sh', '-c', 'env; echo end; exec sleep 1000000'], env: { ID: 'n1' } }

test('a node has nothing of the tool’s environment but what is documented', async () => {
  withSecret()
  const cluster = clusterOf({ nodes: { n: environment } })
  expect(await cluster.reset()).toEqual([])
  const names = stdoutOf(cluster, 'n').map(line => line.split('=')[0])
  expect(names.sort()).toEqual(['HOME', 'ID', 'LANG', 'PATH', 'PWD', 'end'])
})

test('a health check has the node’s environment, and not the tool’s', async () => {
  withSecret()
  const healthy = ['sh', '-c', 'test "$ID" = n1 && test -z "$LASTNAIL_TEST_SECRET"']
  const cluster = clusterOf({ nodes: { n: { ...environment, healthy } } })
  expect(await cluster.reset()).toEqual([])
})

/** Becomes another user, with groups and a limit. */
const other = `
import os, resource, time
resource.setrlimit(resource.RLIMIT_NOFILE, (77, 77))
os.setgroups([1236, 1237])
os.setresgid(1235, 1235, 1235)
os.setresuid(1234, 1234, 1234)
print('up', flush=True)
time.sleep(1e9)
`
const script = `id -u; id -g; id -G; ulimit -n; pwd; echo "$ID$LASTNAIL_TEST_SECRET"
  grep -E '^(CapPrm|CapBnd|NoNewPrivs)' /proc/self/status; ls /proc/self/fd | tr '\\n' ' '`
const node: NodeDefinition = { command: ['/usr/bin/python3', '-c', other], cwd: '/usr', env: { ID: 'n1' } }
const look = async (handle: NodeHandle) => (await handle.exec(['sh', '-c', script])).stdout.split('\n')
/** Its first process may wait for one that has become the user. */
const privileges = (bounding: string, noNewPrivileges: number) => [
  'CapPrm:\t0000000000000000',
  `CapBnd:\t${bounding}`,
  `NoNewPrivs:\t${noNewPrivileges}`,
]
const bounding = '00000100a80425fb'

describe.skipIf(!isRoot)('what is run in a node (needs root)', () => {
  test('has its user, groups, limits, privileges, environment and directory, and no descriptor of the tool’s', async () => {
    withSecret()
    const { value } = await asked(node, look)
    const descriptors = '0 1 2 3 '
    const who = ['1234', '1235', '1235 1236 1237', '77', '/usr', 'n1']
    expect(value).toEqual([...who, ...privileges(bounding, 1), descriptors])
  })

  test('so it is in a run at the pace native', async () => {
    withSecret()
    const value = await askedNatively({ command: ['sh', '-c', waiting], env: { ID: 'n1' }, cwd: '/usr' }, look)
    expect(value[0]).toBe('0')
    expect(value.slice(4)).toEqual([
      '/usr',
      'n1',
      `CapPrm:\t${bounding}`,
      `CapBnd:\t${bounding}`,
      'NoNewPrivs:\t0',
      '0 1 2 3 ',
    ])
  })
})

test('a program that is not there is said, and one that fails gives its code', async () => {
  const { value } = await asked({ command: ['sh', '-c', waiting] }, async handle => [
    await handle.exec(['no-such-program']),
    await handle.exec(['/etc']),
    await handle.exec(['sh', '-c', 'echo out; echo err >&2; exit 3']),
  ])
  expect(value).toEqual([
    { exitCode: 127, stdout: '', stderr: 'cannot run no-such-program: ENOENT (no such file or directory)' },
    { exitCode: 127, stdout: '', stderr: 'cannot run /etc: EACCES (permission denied)' },
    { exitCode: 3, stdout: 'out', stderr: 'err' },
  ])
})
