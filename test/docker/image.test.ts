import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Container, ContainerCreateOptions } from 'dockerode'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures } from '../cli/lastnail.ts'
import { composed, orchestrated } from './campaign-containers.ts'
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

describe.skipIf(reason)(`the tool in a container${reason ? ` (needs Docker: ${reason})` : ''}`, () => {
  let daemon: Daemon
  beforeAll(async () => {
    daemon = await startDaemon()
    await importImage(daemon.docker, 'redis', {
      files: ['/usr/bin/redis-server', '/usr/bin/redis-cli', '/bin/sh', '/bin/grep'].flatMap(programFiles),
      texts: { '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n', '/etc/hosts': '', '/etc/resolv.conf': '' },
      changes: ['ENV PATH=/usr/bin:/bin', 'WORKDIR /data'],
    })
    await daemon.docker.getImage('redis').tag({ repo: 'redis', tag: '8' })
    await importImage(daemon.docker, 'base', {
      files: [
        ...programFiles(process.execPath),
        ...['/bin/sh', '/bin/rm', ...programs].flatMap(programFiles),
        '/etc/ssl/openssl.cnf',
      ],
      texts: { '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n', '/etc/hosts': '', '/etc/resolv.conf': '' },
      changes: [`ENV PATH=${join(process.execPath, '..')}:/usr/bin:/bin:/usr/sbin:/sbin`],
    })
    execFileSync(process.execPath, ['scripts/image.mjs', '--build-arg', 'BASE=base'], {
      cwd: root,
      env: { ...process.env, DOCKER_HOST: daemon.host, DOCKER_BUILDKIT: '0' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }, 300_000)
  afterAll(() => daemon?.stop())

  const lastnail = (...args: readonly string[]) => {
    const { directory, remove } = copyOfFixtures()
    onTestFinished(remove)
    return run({ Image: 'lastnail', Cmd: [...args], HostConfig: { ...rights, Binds: [`${directory}:/work`] } })
  }

  /** Runs a container to its end. */
  const run = async (options: ContainerCreateOptions) => {
    const container = await daemon.docker.createContainer(options)
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

  test.each([
    ['compose file', composed],
    ['manifests for Kubernetes', orchestrated],
  ])(
    'the containers of the %s do a campaign with the rights that they are given',
    { timeout: 300_000 },
    async (_, containersOf) => {
      const { directory, remove } = copyOfFixtures()
      onTestFinished(remove)
      const results = join(directory, 'results')
      mkdirSync(results)
      const { redis, worker, campaign } = containersOf({ work: directory, results })
      const network = await daemon.docker.createNetwork({ Name: 'campaign' })
      const attached = (options: ContainerCreateOptions, name: string): ContainerCreateOptions => ({
        ...options,
        HostConfig: { ...options.HostConfig, NetworkMode: network.id },
        NetworkingConfig: { EndpointsConfig: { [network.id]: { Aliases: [name] } } },
      })
      const begun: Container[] = []
      const begin = async (options: ContainerCreateOptions, name: string) => {
        const container = await daemon.docker.createContainer(attached(options, name))
        begun.push(container)
        await container.start()
        return container
      }
      try {
        const server = await begin(redis, 'redis')
        while ((await server.inspect()).State.Health?.Status !== 'healthy') await sleep(100)
        const taker = await begin(worker, 'worker')
        // The configuration is another one here, and the search is short.
        const asked = campaign.Cmd!.flatMap(each => (each === 'lastnail.config.ts' ? 'adders.config.ts' : each))
        const more = ['--property', 'neverWritten', '--executions', '8', '--json']
        const { code, stdout, stderr } = await run(attached({ ...campaign, Cmd: [...asked, ...more] }, 'campaign'))
        expect(code, stderr).toBe(1)
        expect(JSON.parse(stdout)).toMatchObject({
          verdict: 'violated',
          bugs: [{ property: 'neverWritten', times: 1 }],
        })
        const kept = containersOf === composed ? join(directory, 'schedules') : join(results, 'schedules')
        expect(readdirSync(kept)).toEqual([expect.stringMatching(/^neverWritten-/)])
        expect(String(await taker.logs({ stderr: true }))).toContain('takes jobs of campaign')
        await taker.stop({ t: 30 })
        expect((await taker.inspect()).State.ExitCode).toBe(0)
      } finally {
        for (const container of begun) await container.remove({ force: true, v: true })
        await network.remove()
      }
    },
  )
})
