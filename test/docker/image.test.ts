import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures } from '../cli/lastnail.ts'
import { cannotRunContainers, type Daemon, startDaemon } from './daemon.ts'
import { importImage, programFiles } from './images.ts'

const reason = cannotRunContainers()
const root = join(import.meta.dirname, '../..')
/** What a slim image of Debian with Node.js has of it. */
const programs = ['mount', 'unshare', 'setpriv', 'nsenter', 'chrt', 'cp', 'mkdir'].map(name =>
  execFileSync('which', [name], { encoding: 'utf8' }).trim(),
)

/** As the Dockerfile says it is to be run. */
const rights = {
  CapAdd: ['SYS_ADMIN', 'SYS_PTRACE', 'NET_ADMIN', 'SYS_NICE'],
  SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
  // What `systempaths=unconfined` is to the engine.
  MaskedPaths: [],
  ReadonlyPaths: [],
  Devices: [{ PathOnHost: '/dev/net/tun', PathInContainer: '/dev/net/tun', CgroupPermissions: 'rwm' }],
  ShmSize: 1 << 30,
  NetworkMode: 'none',
}

describe.skipIf(reason)(`the tool in a container${reason ? ` (${reason})` : ''}`, () => {
  let daemon: Daemon
  beforeAll(async () => {
    daemon = await startDaemon()
    await importImage(daemon.docker, 'base', {
      files: [
        ...programFiles(process.execPath),
        ...['/bin/sh', '/bin/rm', ...programs].flatMap(programFiles),
        '/etc/ssl/openssl.cnf',
      ],
      texts: { '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n', '/etc/hosts': '', '/etc/resolv.conf': '' },
      changes: [`ENV PATH=${join(process.execPath, '..')}:/usr/bin:/bin:/usr/sbin:/sbin`],
    })
    execFileSync('npm', ['run', '--silent', 'image', '--', '--build-arg', 'BASE=base'], {
      cwd: root,
      env: { ...process.env, DOCKER_HOST: daemon.host, DOCKER_BUILDKIT: '0' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }, 120_000)
  afterAll(() => daemon?.stop())

  const lastnail = async (...args: readonly string[]) => {
    const { directory, remove } = copyOfFixtures()
    onTestFinished(remove)
    const container = await daemon.docker.createContainer({
      Image: 'lastnail',
      Cmd: [...args],
      HostConfig: { ...rights, Binds: [`${directory}:/work`] },
    })
    const streams = await container.attach({ stream: true, stdout: true, stderr: true })
    const [out, err] = [new PassThrough(), new PassThrough()]
    daemon.docker.modem.demuxStream(streams, out, err)
    streams.on('end', () => [out, err].forEach(stream => void stream.end()))
    await container.start()
    const [stdout, stderr, { StatusCode: code }] = await Promise.all([text(out), text(err), container.wait()])
    await container.remove()
    return { code, stdout, stderr }
  }

  test('finds that the container has all it needs', async () => {
    const { code, stdout } = await lastnail('doctor')
    expect(stdout).not.toMatch(/^LACKS (?!checkpoints|first-in first-out)/m)
    expect(code).toBe(0)
  })

  test('checks a system, and repeats what it finds', async () => {
    const { code, stdout, stderr } = await lastnail(
      'check',
      'adders.config.ts',
      '--property',
      'neverWritten',
      '--executions',
      '5',
      '--json',
    )
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^neverWritten does not hold/) })
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'violated', property: 'neverWritten', repeated: true })
  })
})
