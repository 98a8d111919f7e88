import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, start } from '../cli/lastnail.ts'
import { install } from '../examples/install.ts'
import { cannotRunContainers, type Daemon, startDaemon, startDaemonElsewhere } from './daemon.ts'
import { importImage, importNode, programFiles } from './images.ts'

const reason = cannotRunContainers()
const examples = fileURLToPath(new URL('../../examples/', import.meta.url))

const adders = `
services:
  a: &adder
    image: node
    command: ['node', '/srv/adder.js', 'b']
    volumes: ['.:/srv:ro']
  b: { <<: *adder, command: ['node', '/srv/adder.js', 'a'] }
`

/** Of examples that take a minute each, one is always checked; `npm run test:containers` checks all. */
const longer = test.skipIf(process.env.EVERY_CONTAINER === undefined)

describe.skipIf(reason)(`the command and containers${reason ? ` (needs Docker: ${reason})` : ''}`, () => {
  let daemon: Daemon
  beforeAll(async () => {
    daemon = await startDaemon()
    await importNode(daemon.docker, 'node')
    await importImage(daemon.docker, 'redis', { files: programFiles('/usr/bin/redis-server') })
    await importImage(daemon.docker, 'etcd', { files: programFiles('/usr/bin/etcd') })
    for (const example of ['liferaft', 'node-discover']) await install(join(examples, example))
  })
  afterAll(() => daemon?.stop())

  const begin = (directory: string, ...args: readonly string[]) =>
    start(directory, args, {
      env: { DOCKER_HOST: daemon.host, NODE_IMAGE: 'node', REDIS_IMAGE: 'redis', ETCD_IMAGE: 'etcd' },
    })

  const directoryWith = (files: Record<string, string>) => {
    const { directory, remove } = copyOfFixtures(files)
    onTestFinished(remove)
    return directory
  }

  const containers = () => daemon.docker.listContainers({ all: true })

  const isFoundAsLocally = async (example: string, ...limits: readonly string[]) => {
    const directory = join(directoryWith({}), example)
    cpSync(join(examples, example), directory, { recursive: true })
    const verdictOf = async (config: string) => {
      const args = ['check', config, ...limits, '--json']
      const { exitCode, stdout, stderr } = await begin(directory, ...args)
      if (exitCode !== 1) throw new Error(`exit code ${exitCode}: ${stderr}`)
      const { verdict, property, schedule, repeated } = JSON.parse(String(stdout))
      return { exitCode, verdict, property, schedule, repeated }
    }
    const local = await verdictOf('lastnail.config.ts')
    expect(local).toMatchObject({ exitCode: 1, verdict: 'violated', repeated: true })
    expect(await verdictOf('containers.config.ts')).toEqual(local)
    expect(await containers()).toEqual([])
  }

  test('liferaft: the same violation and the same shrunk schedule as by local processes', { timeout: 400_000 }, () =>
    isFoundAsLocally('liferaft', '--executions', '20', '--seed', '3'),
  )

  longer(
    'node-discover: the same violation and the same shrunk schedule as by local processes (needs EVERY_CONTAINER=1)',
    { timeout: 400_000 },
    () => isFoundAsLocally('node-discover', '--executions', '20'),
  )

  // The messages of etcd's members are cut elsewhere in containers: the schedule is another, of the same violation.
  // A check of the sentinel takes half a minute: the one by local processes is not done again here.
  longer.each([
    ['etcd', 'mutualExclusion', '1'],
    ['sentinel', 'acknowledgedWritesSurvive', '200'],
  ])(
    '%s: the same violation as by local processes (needs EVERY_CONTAINER=1)',
    { timeout: 400_000 },
    async (example, property, executions) => {
      const directory = join(directoryWith({}), example)
      cpSync(join(examples, example), directory, { recursive: true })
      // The sentinel watches the redis servers of another example.
      if (example === 'sentinel') cpSync(join(examples, 'redis'), join(directory, '../redis'), { recursive: true })
      const args = ['check', 'containers.config.ts', '--executions', executions, '--json']
      const { exitCode, stdout } = await begin(directory, ...args)
      expect(JSON.parse(String(stdout))).toMatchObject({ verdict: 'violated', property, repeated: true })
      expect(exitCode).toBe(1)
      expect(await containers()).toEqual([])
    },
  )

  test('a compose file is checked, and a configuration is written for it', async () => {
    const directory = directoryWith({ 'compose.yaml': adders })
    const checked = await begin(directory, 'check', 'compose.yaml', '--executions', '2')
    expect(checked).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await begin(directory, 'init', 'compose.yaml')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await begin(directory, 'check', 'lastnail.config.ts', '--executions', '2')).toMatchObject({ exitCode: 0 })
    expect(await begin(directory, 'init', 'compose.yaml')).toMatchObject({ exitCode: 64 })
  })

  /** A check that goes on, in containers that are up. */
  const beginForever = async () => {
    const directory = directoryWith({ 'compose.yaml': adders })
    const tool = begin(directory, 'check', 'compose.yaml', '--for', '10m', '--workers', '1')
    while ((await containers()).filter(({ State }) => State === 'running').length < 2) await sleep(50)
    return { directory, tool }
  }

  test('after Ctrl-C no container is left', async () => {
    const { tool } = await beginForever()
    process.kill(tool.pid!, 'SIGINT')
    expect(await tool).toMatchObject({ exitCode: 2 })
    expect(await containers()).toEqual([])
  })

  test('after kill -9 the next start removes what may be left', async () => {
    const { directory, tool } = await beginForever()
    process.kill(tool.pid!, 'SIGKILL')
    await tool
    expect(await begin(directory, 'check', 'compose.yaml', '--executions', '1')).toMatchObject({ exitCode: 0 })
    expect(await containers()).toEqual([])
  })

  test('where no engine answers, that is said with the remedy', async () => {
    const directory = directoryWith({ 'compose.yaml': adders })
    const env = { DOCKER_HOST: `unix://${directory}/none` }
    expect(await start(directory, ['check', 'compose.yaml'], { env })).toMatchObject({
      exitCode: 69,
      stderr: `lastnail: no Docker engine answers at unix://${directory}/none: start it, or set DOCKER_HOST to where it listens`,
    })
  })

  test('where the engine is elsewhere, it is said what it takes', async () => {
    const elsewhere = await startDaemonElsewhere()
    onTestFinished(() => elsewhere.stop())
    await importNode(elsewhere.docker, 'node')
    const directory = directoryWith({ 'compose.yaml': adders })
    const env = { DOCKER_HOST: elsewhere.host }
    expect(await start(directory, ['check', 'compose.yaml'], { env })).toMatchObject({
      exitCode: 69,
      stderr:
        'lastnail: the Docker engine runs its containers on another machine, where their time and network cannot be held: ' +
        'expected an engine on this machine, or lastnail to be run there (docker/Dockerfile)',
    })
    expect(await elsewhere.docker.listContainers({ all: true })).toEqual([])
  })
})
