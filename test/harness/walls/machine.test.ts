import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { clusterOf, directoryWith, stdoutOf, take } from '../system.ts'
import { askedNatively } from './asked.ts'

const isRoot = process.getuid!() === 0

/** What a shell says at its start. */
const said = async (script: string, more: { readonly write?: readonly string[] } = {}): Promise<string[]> => {
  const cluster = clusterOf({ nodes: { n: { command: ['bash', '-c', `${script}\nexec sleep 1000000`], ...more } } })
  expect(await cluster.reset()).toEqual([])
  return stdoutOf(cluster, 'n')
}

/** Paths of this machine that a test may write to, and nobody else does. */
const marks = (): string[] => {
  const name = `lastnail-test-${randomUUID()}`
  const paths = [homedir(), '/etc', '/var/lib', '/usr/local', '/run', '/'].map(place => join(place, name))
  onTestFinished(() => {
    for (const path of paths) rmSync(path, { force: true })
  })
  return paths
}

describe.skipIf(!isRoot)('the machine of a node (needs root)', () => {
  test('what it writes anywhere stays in its own layer, and works', async () => {
    const paths = marks()
    const script = paths.map(path => `echo mine > ${path} && cat ${path}`).join('\n')
    expect(await said(script)).toEqual(paths.map(() => 'mine'))
    expect(paths.filter(path => existsSync(path))).toEqual([])
  })

  test('its place in the control groups of this machine is not shown', async () => {
    const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')
    const roots = lines.map(line => line.replace(/:[^:]*$/, ':/'))
    expect(await said('cat /proc/self/cgroup; cat /proc/1/cgroup')).toEqual([...roots, ...roots])
  })

  test('what an empty directory covers is not among its mounts, where a JVM would look for it', async () => {
    const covered = ['/dev/shm', '/sys/fs/cgroup']
    const places = await said(`cut -d ' ' -f 5 /proc/self/mountinfo`)
    const within = places.filter(place => covered.some(path => `${place}/`.startsWith(`${path}/`)))
    expect(within.toSorted()).toEqual(covered)
  })

  test('devices work, and none of their modes, owners and times changes', async () => {
    const devices = ['null', 'zero', 'full', 'random', 'urandom'].map(name => `/dev/${name}`)
    const attributes = () =>
      devices.map(device => statSync(device)).map(({ mode, uid, mtimeMs }) => [mode, uid, mtimeMs])
    const before = attributes()
    onTestFinished(() => {
      for (const [index, device] of devices.entries()) {
        chmodSync(device, before[index]![0]! & 0o777)
        chownSync(device, before[index]![1]!, 0)
      }
    })
    const change = (what: string) => `${what} 2> errors || sed 's/.*: //' errors`
    const script = [
      'cd /tmp',
      ...devices.flatMap(device => [
        change(`chmod 600 ${device}`),
        change(`chown 1234 ${device}`),
        change(`touch -d @1 ${device}`),
      ]),
      // Its input is one of them.
      change('chmod 600 /proc/self/fd/0'),
      'echo lost > /dev/null; head -c 1 /dev/zero | wc -c; cat <&0; echo over',
    ].join('\n')
    const refused = Array(3 * devices.length + 1).fill('Read-only file system')
    expect(await said(script)).toEqual([...refused, '1', 'over'])
    expect(attributes()).toEqual(before)
  })

  test('so it is in a run at the pace native', async () => {
    const paths = marks()
    const script = `${paths.map(path => `echo mine > ${path}`).join('; ')}; echo up; exec sleep 1000000`
    const found = await askedNatively({ command: ['sh', '-c', script] }, handle => handle.exec(['cat', ...paths]))
    expect(found.stdout.split('\n')).toEqual(paths.map(() => 'mine'))
    expect(paths.filter(path => existsSync(path))).toEqual([])
  })

  test('what it changed or made outside of its directory is rolled back, and kept over a crash', async () => {
    const outside = join('/var/tmp', `lastnail-test-${randomUUID()}`)
    mkdirSync(outside)
    onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
    writeFileSync(join(outside, 'old'), 'old\n')
    const script = `cd ${outside}; cat *; echo made > new; for i in 1 2; do sleep 1; echo changed $i >> old; done; exec sleep 1000000`
    const cluster = clusterOf({ nodes: { n: { command: ['bash', '-c', script] } }, faults: { crash: 1 } })
    for (let execution = 0; execution < 3; execution++) {
      await cluster.reset()
      expect(stdoutOf(cluster, 'n')).toEqual(['old'])
      await take(cluster, 'n timer +1000ms')
      await take(cluster, 'crash n')
      await take(cluster, 'restart n')
      expect(stdoutOf(cluster, 'n')).toEqual(['made', 'old', 'changed 1'])
    }
    expect(readFileSync(join(outside, 'old'), 'utf8')).toBe('old\n')
  })

  test('where `write` says so it writes to the machine, and nowhere beside', async () => {
    const directory = directoryWith({ kept: '', other: '' })
    const script = `echo through > ${directory}/kept; echo aside > ${directory}/other; cat ${directory}/*`
    expect(await said(script, { write: [join(directory, 'kept')] })).toEqual(['through', 'aside'])
    expect(readFileSync(join(directory, 'kept'), 'utf8')).toBe('through\n')
    expect(readFileSync(join(directory, 'other'), 'utf8')).toBe('')
  })

  test('a path to write to that is not there is a wrong configuration', () => {
    expect(() => clusterOf({ nodes: { n: { command: ['true'], write: ['/no/such/path'] } } })).toThrow(
      'nodes.n.write[0]: expected a file or directory, found no /no/such/path',
    )
  })

  test('every user may write to the /tmp of a node', async () => {
    const asUser = 'setpriv --reuid 1234 --regid 1234 --clear-groups'
    const script = `stat -c '%a %u %g' /tmp; ${asUser} sh -c 'echo lock > /tmp/.s.lock && cat /tmp/.s.lock'`
    expect(await said(script)).toEqual(['1777 0 0', 'lock'])
  })

  test('it sees no device of the machine, and makes none', async () => {
    const script = `ls /dev | tr '\\n' ' '; echo
      mknod /tmp/disk b 7 0 && cat /tmp/disk 2>&1 | sed 's/.*: //'
      echo x > /dev/null && head -c 3 /dev/zero | od -An -tx1 && tty < /dev/tty 2>&1 | head -c 0
      python3 -c 'import os; print(os.ttyname(os.openpty()[1]))'`
    expect(await said(script)).toEqual([
      'fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ',
      'Permission denied',
      ' 00 00 00',
      '/dev/pts/0',
    ])
  })

  test('root in it cannot set the machine', async () => {
    const settings = [
      '/proc/sys/kernel/core_pattern',
      '/proc/sys/kernel/panic',
      '/proc/sysrq-trigger',
      '/sys/kernel/mm',
    ]
    const paths = settings.filter(path => existsSync(path))
    const before = paths.map(path => (path.startsWith('/proc/sys/') ? readFileSync(path, 'utf8') : ''))
    // Nothing is written, also where it could be.
    const script = paths.map(
      path => `{ test -d ${path} && mkdir ${path}/x || : >> ${path}; } 2>/dev/null && echo ${path}`,
    )
    expect(await said(`${script.join('\n')}\necho end`)).toEqual(['end'])
    expect(paths.map(path => (path.startsWith('/proc/sys/') ? readFileSync(path, 'utf8') : ''))).toEqual(before)
  })

  test('it has the rights of root in a default container, and those work', async () => {
    const script = `grep -E '^(CapPrm|CapEff|CapBnd|CapInh)' /proc/self/status | cut -f 2 | tr '\\n' ' '; echo
      date -s @0 >/dev/null 2>&1 && echo time
      mount -t tmpfs none /mnt 2>/dev/null && echo mount
      touch f; chown 1234:1234 f && stat -c %u f
      setpriv --reuid 1234 --regid 1234 --init-groups id -u 2>/dev/null || setpriv --reuid 1234 --regid 1234 --clear-groups id -u
      mkdir -p /jail/bin && cp /bin/busybox /jail/bin/sh && chroot /jail /bin/sh -c 'echo jailed'
      python3 -c 'import socket; s = socket.socket(); s.bind(("", 80)); print(s.getsockname()[1])'`
    const set = '00000100a80425fb'
    expect(await said(script)).toEqual([`0000000000000000 ${set} ${set} ${set} `, '1234', '1234', 'jailed', '80'])
  })

  test('a file keeps its owner, mode and attributes over a crash', async () => {
    // Whatever this machine has in its own /tmp is there as well.
    const script = `mkdir -p /tmp/lastnail-kept; cd /tmp/lastnail-kept
      if test -e f; then
        stat -c '%a %u:%g' f; python3 -c 'import os; print(os.getxattr("f", "user.mark").decode())'
      else
        echo text > f; chown 5:6 f; chmod 4640 f; python3 -c 'import os; os.setxattr("f", "user.mark", b"kept")'
      fi
      exec sleep 1000000`
    const cluster = clusterOf({ nodes: { n: { command: ['bash', '-c', script] } }, faults: { crash: 1 } })
    await cluster.reset()
    await take(cluster, 'crash n')
    await take(cluster, 'restart n')
    expect(stdoutOf(cluster, 'n')).toEqual(['4640 5:6', 'kept'])
  })

  test('what it wrote keeps its kind, links and times over a crash', async () => {
    const directory = directoryWith({})
    chownSync(directory, 0, 0)
    const show = 'import os; print(os.getxattr("f", "user.mark").decode(), os.stat("f").st_mtime == 5.0)'
    const script = `cd ${directory}
      if test -e f; then
        stat -c '%n %F %a %u:%g %h' f hard link fifo; stat -c '%n %F %a %u:%g' dir; readlink link; python3 -c '${show}'
      else
        echo text > f; ln f hard; ln -s f link; mkfifo fifo; mkdir dir; chmod 2751 dir; chown 7:8 dir; chmod 4640 f; chown -h 5:6 f link
        chmod 4640 f; python3 -c 'import os; os.setxattr("f", "user.mark", b"kept"); os.utime("f", (5, 5))'
      fi
      exec sleep 1000000`
    const cluster = clusterOf({ nodes: { n: { command: ['bash', '-c', script] } }, faults: { crash: 1 } })
    await cluster.reset()
    await take(cluster, 'crash n')
    await take(cluster, 'restart n')
    expect(stdoutOf(cluster, 'n')).toEqual([
      'f regular file 4640 5:6 2',
      'hard regular file 4640 5:6 2',
      'link symbolic link 777 5:6 1',
      'fifo fifo 644 0:0 1',
      'dir directory 2751 7:8',
      'f',
      'kept True',
    ])
  })
})
