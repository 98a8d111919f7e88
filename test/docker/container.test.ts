import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { fromCompose } from '../../docker/compose/nodes.ts'
import { connect } from '../../docker/connect.ts'
import { DockerEngine } from '../../docker/engine.ts'
import { Cluster } from '../../harness/cluster.ts'
import {
  defineSystem,
  jsonLines,
  type NodeDefinition,
  resolveSystem,
  type SystemDefinition,
} from '../../harness/config/config.ts'
import { clusterOf, directoryWith, labelsOf, stdoutOf, take } from '../harness/system.ts'
import { cannotRunContainers, type Daemon, startDaemon } from './daemon.ts'
import { importImage, importNode, programFiles } from './images.ts'

const reason = cannotRunContainers()
const busybox = '/bin/busybox'
const muslCompiler = '/usr/bin/musl-gcc'

/** Tells by its clock how long it slept. */
const sleeper = `
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main() {
  time_t begun = time(0);
  struct tm *day = gmtime(&begun);
  printf("%d %s\\n", day->tm_mday, day->tm_mon == 0 ? "Jan" : "?");
  fflush(stdout);
  sleep(60);
  printf("after %ld s\\nup\\n", (long)(time(0) - begun));
  fflush(stdout);
  for (;;) pause();
}`

describe.skipIf(reason)(`nodes in containers${reason ? ` (needs Docker: ${reason})` : ''}`, () => {
  let daemon: Daemon
  beforeAll(async () => {
    daemon = await startDaemon()
    process.env.DOCKER_HOST = daemon.host
    await importNode(daemon.docker, 'node')
  })
  afterAll(async () => {
    delete process.env.DOCKER_HOST
    await daemon?.stop()
  })

  /** A cluster in containers, ended with the test. */
  const containersOf = async (definition: Omit<SystemDefinition, 'name'>, files: Record<string, string> = {}) => {
    const directory = directoryWith(files)
    const system = resolveSystem(defineSystem({ name: 'test', ...definition }), { directory })
    const engine = await DockerEngine.open(system)
    const cluster = new Cluster(system, { engine })
    const close = async () => {
      cluster.close()
      await engine.close()
    }
    onTestFinished(close)
    return { cluster, close }
  }

  const node = (script: string, more: Partial<NodeDefinition> = {}): NodeDefinition => ({
    image: 'node',
    command: ['node', '-e', script],
    ...more,
  })

  const containers = () => daemon.docker.listContainers({ all: true })

  test('are of an image that is built, where a compose file says so', async () => {
    const { cluster } = await containersOf(
      { nodes: fromCompose('compose.yaml') },
      {
        'compose.yaml': 'services:\n  here: { build: { context: ., args: { WORD: hello } }, pull_policy: always }\n',
        Dockerfile: 'FROM node\nARG WORD\nENV WORD=$WORD\nCOPY say.js /say.js\nCMD ["node", "/say.js"]\n',
        'say.js': 'console.log(process.env.WORD); setInterval(() => {}, 1000)\n',
      },
    )
    await cluster.reset()
    expect(stdoutOf(cluster, 'here')).toEqual(['hello'])
  })

  test('share a volume, which begins with what the image of the first has there', async () => {
    const { cluster } = await containersOf(
      { nodes: fromCompose('compose.yaml') },
      {
        'compose.yaml': `
services:
  other: { image: node, command: [node, -e, "setTimeout(() => require('/data/read.js'), 2000)"], volumes: ['site:/data:ro'], depends_on: [web] }
  web: { build: ., command: [node, /site/write.js], volumes: ['site:/site'] }
volumes:
  site:
`,
        Dockerfile: 'FROM node\nCOPY write.js read.js /site/\n',
        'write.js': "setTimeout(() => require('fs').writeFileSync('/site/made', 'hello'), 1000)\n",
        'read.js': `const fs = require('fs')
console.log(String(fs.readFileSync('/data/made')))
try { fs.rmSync('/data/made') } catch ({ code }) { console.log(code) }
setInterval(() => {}, 60_000)
`,
      },
    )
    for (const _ of [1, 2]) {
      await cluster.reset()
      await take(cluster, 'web timer +1000ms')
      await take(cluster, 'other timer +2000ms')
      expect(stdoutOf(cluster, 'other')).toEqual(['hello', 'EROFS'])
    }
  })

  test('whose image cannot be built are refused with the reason', async () => {
    const opened = containersOf(
      { nodes: fromCompose('compose.yaml') },
      { 'compose.yaml': 'services:\n  web: { build: . }\n', Dockerfile: 'FROM node\nCOPY none /none\n' },
    )
    await expect(opened).rejects.toThrow(/nodes\.web\.image: .* "[\w-]+-web" cannot be built of \S+: .*none/)
  })

  test('a container that connects to its database and then listens starts, and its start is gone back to', async () => {
    const database = "require('node:net').createServer(socket => socket.end('hi')).listen(6379)"
    const service = `require('node:net').connect(6379, 'db').on('data', data => {
      console.log(String(data))
      require('node:http').createServer(() => {}).listen(8080)
    })`
    const nodes = { a: node(service, { listens: 8080 }), db: node(database, { listens: 6379 }) }
    const { cluster } = await containersOf({ nodes })
    for (let again = 0; again < 2; again++) {
      expect(await cluster.reset()).toEqual([])
      expect(cluster.details.started).toEqual([
        'a→db #1 open :6379',
        'db→a #1 accept :6379',
        'db→a #2 2 bytes :6379 "hi"',
      ])
      expect(stdoutOf(cluster, 'a')).toEqual(['hi'])
    }
    expect(cluster.starts).toBe(2)
  })

  test('an image runs as it says: user, directory, environment, command; its clock is held', async () => {
    const print =
      'console.log(process.getuid(), process.cwd(), process.env.FROM, process.env.HOSTNAME, process.pid, Date.now()); setInterval(() => {}, 1000)'
    await importImage(daemon.docker, 'said', {
      files: programFiles(process.execPath),
      texts: { '/etc/passwd': 'app:x:1000:1000::/:/bin/sh\n', '/srv/print.js': print },
      changes: ['USER app', 'WORKDIR /srv', 'ENV FROM=image', `ENTRYPOINT ["${process.execPath}"]`, 'CMD ["print.js"]'],
    })
    const { cluster } = await containersOf({
      nodes: {
        a: { image: 'said' },
        b: {
          image: 'said',
          env: { FROM: 'node' },
          cwd: '/',
          command: ['-e', 'console.log(process.cwd()); setInterval(() => {}, 1000)'],
        },
      },
    })
    expect(await cluster.reset()).toEqual([])
    expect(stdoutOf(cluster, 'a')).toEqual([`1000 /srv image a 1 ${Date.UTC(2026, 0, 1)}`])
    expect(stdoutOf(cluster, 'b')).toEqual(['/'])
  })

  test('processes have the ids that they have outside of containers, in place and on new ones', async () => {
    const script = `
      const { spawnSync } = require('child_process')
      setInterval(() => console.log(spawnSync(process.execPath, ['-v']).pid), 1000)`
    const execute = async (cluster: Cluster) => {
      expect(await cluster.reset()).toEqual([])
      for (let step = 0; step < 2; step++) expect((await cluster.execute(cluster.enabled()[0]!)).findings).toEqual([])
      return stdoutOf(cluster, 'a')
    }
    const local = await execute(clusterOf({ nodes: { a: { command: [process.execPath, '-e', script] } } }))
    const { cluster } = await containersOf({ nodes: { a: node(script) } })
    for (let execution = 0; execution < 3; execution++) expect(await execute(cluster)).toEqual(local)
    expect(cluster.starts).toBe(1)
    cluster.stopRewinding()
    for (let execution = 0; execution < 2; execution++) expect(await execute(cluster)).toEqual(local)
  })

  test('the same choices, labels, states and random numbers as local processes', async () => {
    const gossip = `
      const [, name, ...others] = process.argv
      const socket = require('dgram').createSocket('udp4')
      socket.on('message', bytes => console.log(JSON.stringify({ got: String(bytes) })))
      socket.bind(4000)
      setTimeout(() => { for (const other of others) socket.send(name, 4000, other) }, Math.floor(Math.random() * 100))`
    const definition = (image?: string) => ({
      nodes: {
        a: { image, command: [process.execPath, '-e', gossip, 'a', 'b'] },
        b: { image, command: [process.execPath, '-e', gossip, 'b', '{{a.address}}'] },
      },
      state: jsonLines('stdout'),
    })
    const executionOf = async (cluster: Cluster) => {
      await cluster.reset()
      const seen: unknown[] = []
      while (labelsOf(cluster).length > 0) {
        seen.push(labelsOf(cluster), cluster.fingerprint())
        await cluster.execute(cluster.enabled()[0]!)
      }
      return [...seen, cluster.state().nodes.map(({ state }) => state)]
    }
    const { cluster } = await containersOf(definition('node'))
    const inContainers = await executionOf(cluster)
    expect(inContainers).toHaveLength(9)
    expect(inContainers).toEqual(await executionOf(clusterOf(definition())))
    expect(await executionOf(cluster)).toEqual(inContainers)
    expect(cluster.starts).toBe(2)
  })

  test('what it writes is its disk: kept over a crash, and gone in the next execution', async () => {
    const count = (path: string) => `
      const fs = require('fs')
      const count = fs.existsSync('${path}') ? Number(fs.readFileSync('${path}')) + 1 : 1
      fs.writeFileSync('${path}', String(count))
      console.log(count)
      setInterval(() => {}, 5000)`
    const { cluster } = await containersOf({
      nodes: {
        root: node(count('/count')),
        volume: node(count('/data/count'), { container: { volumes: ['/data'] } }),
        lost: node(count('/count'), { disk: 'lost' }),
      },
      faults: { crash: 3 },
    })
    for (let execution = 0; execution < 2; execution++) {
      expect(await cluster.reset()).toEqual([])
      for (const name of ['root', 'volume', 'lost']) {
        await take(cluster, `crash ${name}`)
        await take(cluster, `restart ${name}`)
      }
      expect(['root', 'volume', 'lost'].map(name => stdoutOf(cluster, name))).toEqual([['2'], ['2'], ['1']])
    }
  })

  test('files of this machine are mounted, and never written to', async () => {
    const { cluster } = await containersOf(
      {
        nodes: {
          n: node(
            `const fs = require('fs')
            const attempt = path => { try { fs.writeFileSync(path, 'new'); return 'wrote' } catch (error) { return error.code } }
            console.log(String(fs.readFileSync('/in/seed')), attempt('/in/seed'), attempt('/ro/seed'), attempt('/etc/x'), attempt('/run/x'))`,
            { container: { volumes: ['.:/in', '.:/ro:ro'], tmpfs: ['/run'], readOnly: true } },
          ),
        },
      },
      { seed: 'old' },
    )
    await cluster.reset()
    expect(stdoutOf(cluster, 'n')).toEqual(['old wrote EROFS EROFS wrote'])
    await cluster.reset()
    expect(stdoutOf(cluster, 'n')).toEqual(['old wrote EROFS EROFS wrote'])
  })

  test('nothing of the checker is seen in it', async () => {
    const look = `
      const fs = require('fs')
      const places = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\\n').map(line => line.split(' ')[4])
      console.log(fs.readdirSync('/dev/shm').length, places.filter(place => /lastnail/.test(place)).length)
      console.log(Object.keys(process.env).sort().join())`
    const { cluster } = await containersOf({ nodes: { n: node(look) } })
    await cluster.reset()
    expect(stdoutOf(cluster, 'n')).toEqual(['0 0', 'HOME,HOSTNAME,PATH'])
  })

  test('one whose program has ended is lived again; one that a fault ends is not', async () => {
    const end = (how: string) => node(`console.log('up'); setTimeout(() => ${how}, 10)`)
    const { cluster } = await containersOf({ nodes: { ends: end('process.exit()'), fails: end('process.abort()') } })
    for (let execution = 0; execution < 3; execution++) {
      expect(await cluster.reset()).toEqual([])
      expect((await take(cluster, 'ends timer +10ms')).findings).toEqual([])
      expect((await take(cluster, 'fails timer +10ms')).findings).toMatchObject([{ kind: 'crash', node: 'fails' }])
      expect(cluster.state().nodes.map(({ alive }) => alive)).toEqual([false, false])
    }
    // A start that a busy machine interrupts is not kept. Even so, one of the two lives after the first is lived again.
    expect([4, 5]).toContain(cluster.starts)
  })

  test('a container ends with its first process, and it is said that others were ended with it', async () => {
    const script = `
      require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e8)'])
      setTimeout(() => process.exit(), 10)`
    const { cluster } = await containersOf({ nodes: { n: node(script, { exits: 'allowed' }) } })
    await cluster.reset()
    await take(cluster, 'n timer +10ms')
    expect(labelsOf(cluster)).toEqual([])
    expect(cluster.notes()).toContain(
      'n: its first process ended with code 0, and others with it, because a container ends with its first one',
    )
  })

  test('limits of a container are kept by the engine', async () => {
    const { cluster } = await containersOf({
      nodes: { n: node('setInterval(() => {}, 1000)', { container: { memory: '256m', pids: 50 } }) },
    })
    await cluster.reset()
    const [container] = await containers()
    expect((await daemon.docker.getContainer(container!.Id).inspect()).HostConfig).toMatchObject({
      Memory: 256 << 20,
      PidsLimit: 50,
      AutoRemove: true,
    })
  })

  test('a start is over when the health check succeeds', async () => {
    const late = `
      setTimeout(() => require('fs').writeFileSync('/healthy', ''), 3000)
      setInterval(() => {}, 1e8)`
    const check = ['node', '-e', "require('fs').accessSync('/healthy')"]
    const { cluster } = await containersOf({ nodes: { n: node(late, { healthy: check }) } })
    expect(await cluster.reset()).toEqual([])
    expect(labelsOf(cluster)).toEqual(['n timer +99997000ms'])
    const { cluster: ill } = await containersOf({
      nodes: { n: node('setInterval(() => {}, 1e8)', { healthy: ['node', '-e', 'process.exit(1)'] }) },
    })
    expect(await ill.reset()).toMatchObject([
      { kind: 'crash', message: expect.stringMatching(/^n is idle, and "node -e .*" fails in it/) },
    ])
  })

  test.skipIf(!existsSync(busybox))('an image of one static program (needs busybox-static)', async () => {
    await importImage(daemon.docker, 'scratch', { files: [busybox] })
    const { cluster } = await containersOf({
      nodes: { n: { image: 'scratch', command: [busybox, 'sh', '-c', 'date +%m-%d; sleep 60; echo up'] } },
    })
    await cluster.reset()
    await take(cluster, 'n timer +60000ms')
    expect(stdoutOf(cluster, 'n')).toEqual(['01-01', 'up'])
    const { cluster: without } = await containersOf({
      nodes: { n: { image: 'scratch', command: ['sh', '-c', 'true'] } },
    })
    await expect(without.reset()).rejects.toThrow(
      'nodes.n.command: expected a program of the image "scratch", found no "sh"',
    )
  })

  test.skipIf(!existsSync(muslCompiler))('an image of another C library (needs musl-tools)', async () => {
    const directory = directoryWith({ 'sleeper.c': sleeper })
    const [source, program] = [join(directory, 'sleeper.c'), join(directory, 'sleeper')]
    execFileSync(muslCompiler, [source, '-o', program])
    await importImage(daemon.docker, 'musl', { files: ['/lib/ld-musl-x86_64.so.1', program] })
    const { cluster } = await containersOf({ nodes: { n: { image: 'musl', command: [program] } } })
    for (let execution = 0; execution < 2; execution++) {
      await cluster.reset()
      await take(cluster, 'n timer +60000ms')
      expect(stdoutOf(cluster, 'n')).toEqual(['1 Jan', 'after 60 s', 'up'])
    }
  })

  test('wrong images are refused before anything starts', async () => {
    await expect(containersOf({ nodes: { n: { image: 'nowhere' } } })).rejects.toThrow(
      'nodes.n.image: expected an image of the engine for Linux on x86-64, but the engine has no "nowhere"',
    )
    await expect(containersOf({ nodes: { n: node('', { container: { volumes: ['./none:/x'] } }) } })).rejects.toThrow(
      /nodes\.n\.container\.volumes: expected a file or directory, found no .*\/none$/,
    )
    await importImage(daemon.docker, 'mute', { texts: { '/x': '' } })
    await expect(containersOf({ nodes: { n: { image: 'mute' } } })).rejects.toThrow(
      'nodes.n.command: expected a command, since the image "mute" has none',
    )
    expect(await containers()).toEqual([])
  })

  test('a user who may not speak with the engine is told so', async () => {
    // Another name for it: a connection that there is may be used.
    const host = daemon.host.replace(/socket$/, './socket')
    process.env.DOCKER_HOST = host
    process.seteuid!(65534)
    try {
      await expect(connect()).rejects.toThrow(`this user may not speak with the Docker engine at ${host}: run as root`)
    } finally {
      process.seteuid!(0)
      process.env.DOCKER_HOST = daemon.host
    }
  })

  test('nothing is left when it is closed', async () => {
    const { cluster, close } = await containersOf({
      nodes: {
        a: node('setInterval(() => {}, 1000)', { container: { volumes: ['/data'] } }),
        b: node('setInterval(() => {}, 1000)'),
      },
      faults: { crash: 1 },
    })
    await cluster.reset()
    expect(await containers()).toHaveLength(2)
    await take(cluster, 'crash a')
    await cluster.reset()
    await close()
    expect(await containers()).toEqual([])
    expect((await daemon.docker.listVolumes()).Volumes ?? []).toEqual([])
    const runs = existsSync('/dev/shm/lastnail') ? readdirSync('/dev/shm/lastnail') : []
    expect(
      runs.filter(name => name.startsWith(`${process.pid}-`)).map(name => join('/dev/shm/lastnail', name)),
    ).toEqual([])
  })
})
