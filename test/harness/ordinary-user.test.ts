import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { directoryWith } from './system.ts'

const repository = join(import.meta.dirname, '../..')

/**
 * The command as a user without any right runs it. The machine stays as it is: in a mount namespace of the command's
 * own, this package and the service are put where every user may read them, and the TUN device is one that he may open.
 */
const machine = `
  mount -t tmpfs -o mode=755 lastnail-test /mnt
  mkdir /mnt/bin /mnt/package /mnt/service
  touch /mnt/bin/node
  mount --bind ${process.execPath} /mnt/bin/node
  mount --rbind ${repository} /mnt/package
  mount --bind "$0" /mnt/service
  mount -t tmpfs -o mode=755 lastnail-test /dev/net
  mknod -m "$1" /dev/net/tun c 10 200
  shift
  cd /mnt/service`
const user = ['--reuid=65534', '--regid=65534', '--clear-groups', '--']
const asUser = `set -e; ${machine}; exec setpriv ${user.join(' ')} "$@"`
/** User namespaces are refused in a changed root directory (user_namespaces(7)). */
const asUserOfContainer = `set -e; ${machine}; mkdir /mnt/root; mount --rbind / /mnt/root
  exec chroot --userspec=65534:65534 --groups= /mnt/root sh -c 'cd /mnt/service; exec "$@"' sh "$@"`

const isRoot = process.getuid!() === 0

const program = `
  const [, , name, peer] = process.argv
  const socket = require('dgram').createSocket('udp4')
  socket.on('message', bytes => console.log(JSON.stringify({ heard: String(bytes) })))
  socket.bind(4000)
  setTimeout(() => socket.send(name, 4000, peer), 10)
  setInterval(() => {}, 1000)`
const config = (mark: string) => `
  import { always, defineSystem, jsonLines } from 'lastnail'
  export default defineSystem({
    name: 'pair',
    nodes: {
      a: { command: ['node', '${mark}.cjs', 'a', '{{b.address}}'] },
      b: { command: ['node', '${mark}.cjs', 'b', '{{a.address}}'] },
    },
    state: jsonLines('stdout'),
    properties: {
      silence: always(s => s.nodes.every(node => node.state === undefined)),
      names: always(s => s.nodes.every(node => node.state === undefined || node.state.heard !== node.name)),
    },
  })`

interface Circumstances {
  /** Instead of that of the pair. */
  readonly definition?: string
  readonly script?: string
  readonly tunMode?: string
}

/** Starts `lastnail` on a pair of nodes that greet each other; every process of it shows `mark` in its command line. */
const start = (
  command: string,
  options: readonly string[],
  { definition, script = asUser, tunMode = '666' }: Circumstances,
) => {
  const mark = `pair-${randomUUID()}`
  const service = directoryWith({ [`${mark}.cjs`]: program, [`${mark}.config.ts`]: definition ?? config(mark) })
  chmodSync(service, 0o777)
  const args = [command, ...(command === 'check' ? [`${mark}.config.ts`] : []), ...options]
  const child = isRoot
    ? spawn('unshare', [
        ...['--mount', '--propagation', 'private', '--', 'sh', '-c', script, service, tunMode],
        ...['env', `PATH=/mnt/bin:${process.env.PATH}`, 'node', '/mnt/package/bin/lastnail.js', ...args],
      ])
    : spawn(process.execPath, [join(repository, 'bin/lastnail.js'), ...args], { cwd: service })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { mark, service, child }
}

const lastnail = async (command: string, options: readonly string[] = [], circumstances: Circumstances = {}) => {
  const { child } = start(command, options, circumstances)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code: child.exitCode, stdout, stderr }
}

const remedies = {
  namespaces: 'unshare: unshare failed: Operation not permitted; run as root; a container needs --privileged',
  scheduling:
    'chrt: failed to set pid 0\'s policy: Operation not permitted; without it, races between threads inside a node do not repeat; run as root, or allow it ("<user> - rtprio 90" in /etc/security/limits.conf)',
  checkpoints:
    'only root may restore processes with CRIU; without checkpoints, schedules are executed again; lastnail doctor --fix gets CRIU (8 MB of Debian packages) into DIRECTORY',
  tun: `EACCES: permission denied, access '/dev/net/tun'; its mode is 600: let every user open it, as most distributions do (chmod 666 /dev/net/tun)`,
}

test('the doctor finds all that is needed', async () => {
  const { code, stdout } = await lastnail('doctor')
  expect(stdout.replace(/user \d+/, 'user N').replace(/into \S+$/m, 'into DIRECTORY')).toBe(`has   x86-64 Linux: yes
has   namespaces: yes, in a user namespace of user N
has   TUN devices: yes
has   ptrace: yes
has   overlay file system: yes
LACKS first-in first-out scheduling: ${remedies.scheduling}
LACKS checkpoints: ${remedies.checkpoints}
`)
  expect(code).toBe(0)
})

test('a check finds a violation and repeats it', async () => {
  const { code, stdout } = await lastnail('check', ['--property', 'silence', '--executions', '20', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'violated', property: 'silence', repeated: true })
  expect(code).toBe(1)
})

test('daemons live on, timers send signals, and limits are kept', async () => {
  const daemon = `
import os, signal, time
if os.fork() > 0: os._exit(0)
os.setsid()
if os.fork() > 0: os._exit(0)
try:
    with open('/dev/shm/x', 'wb') as file: file.write(b'x' * (2 << 20))
except OSError as error: print(error.strerror, flush=True)
try:
    while True:
        if os.fork() == 0: time.sleep(1000)
except OSError as error: print(error.strerror, flush=True)
signal.signal(signal.SIGALRM, lambda *_: print('alarm', flush=True))
signal.setitimer(signal.ITIMER_REAL, 0.5)
time.sleep(1)
print('slept', flush=True)
kept = bytearray(b'x' * (100 << 20))
time.sleep(1000)`
  const definition = `
  import { defineSystem, sometimes } from 'lastnail'
  const wrote = 'No space left on device\\nResource temporarily unavailable\\nalarm\\nslept\\n'
  export default defineSystem({
    name: 'limits',
    nodes: {
      d: { command: ['python3', '-S', '-E', '-c', ${JSON.stringify(daemon)}], exits: 'allowed' },
    },
    limits: { processes: 6, shm: '1MB', memory: '64MB' },
    properties: { slept: sometimes(s => s.node('d').output.stdout === wrote) },
  })`
  const { code, stdout } = await lastnail('check', ['--executions', '2', '--workers', '1', '--json'], { definition })
  const { verdict, notes } = JSON.parse(stdout)
  expect([code, verdict]).toEqual([0, 'held'])
  for (const note of [
    'd: its /dev/shm is full: it holds 1MB (limits.shm)',
    'd: it has 6 processes and threads, as many as it may have (limits.processes): more are refused with EAGAIN',
    'd: it used more than 64MB of memory (limits.memory), and was ended',
  ])
    expect(notes).toContain(note)
})

test('exit codes are as for root: 0 if it holds, 64 for wrong usage', async () => {
  expect(await lastnail('check', ['--property', 'names', '--executions', '5'])).toMatchObject({ code: 0, stderr: '' })
  expect(await lastnail('check', ['--depth', 'deep'])).toMatchObject({ code: 64, stdout: '' })
  expect(await lastnail('replay', ['no.trace'])).toMatchObject({ code: 64, stdout: '' })
})

test('a signal ends it in order, and when it is killed nothing stays', async () => {
  for (const [signal, code] of [
    ['SIGTERM', 2],
    ['SIGKILL', null],
  ] as const) {
    const { mark, child } = start('check', ['--property', 'names', '--for', '10m'], {})
    // The command, setpriv become unshare, the command again, two nodes.
    while (processesOf(mark).length < 5) await sleep(20)
    child.kill(signal)
    await once(child, 'exit')
    expect(child.exitCode).toBe(code)
    while (processesOf(mark).length > 0) await sleep(20)
  }
})

test.skipIf(!isRoot)('where the device is closed to users, that is said with the remedy (needs root)', async () => {
  const { code, stdout } = await lastnail('doctor', [], { tunMode: '600' })
  expect(stdout).toContain(`LACKS TUN devices: ${remedies.tun}\n`)
  expect(code).toBe(69)
  const stderr = `lastnail: this machine lacks TUN devices: ${remedies.tun}\n`
  expect(await lastnail('check', [], { tunMode: '600' })).toEqual({ code: 69, stdout: '', stderr })
})

test.skipIf(!isRoot)('where user namespaces are forbidden, that is said with the remedy (needs root)', async () => {
  const { code, stdout } = await lastnail('doctor', [], { script: asUserOfContainer })
  expect(stdout).toContain(`LACKS namespaces: ${remedies.namespaces}\n`)
  expect(code).toBe(69)
  const stderr = `lastnail: this machine lacks namespaces: ${remedies.namespaces}\n`
  expect(await lastnail('check', [], { script: asUserOfContainer })).toEqual({ code: 69, stdout: '', stderr })
})

/** Processes that show `mark` in their command line. */
const processesOf = (mark: string): string[] =>
  readdirSync('/proc').filter(pid => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark)
    } catch {
      return false
    }
  })
