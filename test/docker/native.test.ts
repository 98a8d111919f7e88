import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, start } from '../cli/lastnail.ts'
import { person } from '../cli/person.ts'
import { controlOf, untilHolds, untilMore } from '../cli/running.ts'
import { cannotRunContainers, type Daemon, startDaemon } from './daemon.ts'
import { importNode } from './images.ts'

const reason = cannotRunContainers()

/** Says at each start which life of the node it is, as its disk tells it; then what it hears. */
const peer = `
  const { appendFileSync, readFileSync } = require('node:fs')
  const { createSocket } = require('node:dgram')
  const [, to] = process.argv
  appendFileSync('lives', 'x')
  const life = readFileSync('lives', 'utf8').length
  const say = state => console.log(JSON.stringify(state))
  say({ life, host: require('node:os').hostname() })
  const socket = createSocket('udp4', bytes => say({ life, heard: String(bytes) }))
  socket.bind(7000, () => setInterval(() => socket.send('life ' + life, 7000, to), 50))
`

const config = (image: string) => `
  import { defineSystem, eventually, jsonLines } from 'lastnail'

  const node = to => ({ image: '${image}', command: ['node', '-e', ${JSON.stringify(peer)}, to], cwd: '/tmp' })
  export default defineSystem({
    name: 'peers',
    nodes: { a: node('b'), b: node('a') },
    state: jsonLines('stdout'),
    properties: {
      bothHear: eventually(({ nodes }) => nodes.every(({ state }) => state?.heard)),
      secondLives: eventually(({ nodes }) => nodes.every(({ state }) => state?.life === 2)),
    },
  })
`

describe.skipIf(reason)(`containers in real time${reason ? ` (needs Docker: ${reason})` : ''}`, () => {
  let daemon: Daemon
  beforeAll(async () => {
    daemon = await startDaemon()
    await importNode(daemon.docker, 'node')
  })
  afterAll(() => daemon?.stop())

  const containers = () => daemon.docker.listContainers({ all: true })

  const begin = (image: string, ...args: readonly string[]) => {
    const { directory, remove } = copyOfFixtures({ 'peers.config.ts': config(image) })
    onTestFinished(remove)
    const run = start(directory, ['emulate', 'peers.config.ts', '--pace', 'native', '--json', ...args], {
      env: { DOCKER_HOST: daemon.host },
    })
    onTestFinished(() => void run.kill('SIGKILL'))
    return run
  }

  test('they reach each other, come and go with their disks, and leave nothing', { timeout: 180_000 }, async () => {
    const run = begin('node', '--for', '170s', '--look', '200ms')
    const { control: asked } = await controlOf(run)
    // Both have said which life it is: what one sends may pass before the other has begun.
    await untilHolds(asked, 'bothHear')
    expect((await asked.kill('a')).nodes[0]).toMatchObject({ name: 'a', isAlive: false })
    expect((await asked.join('a')).nodes[0]).toMatchObject({ name: 'a', isAlive: true })
    await asked.partition(['a'], ['b'])
    await untilMore(asked, 'packets_dropped_total{reason="cut"}')
    await asked.heal()
    expect((await asked.reboot('b')).nodes[1]).toMatchObject({ name: 'b', isAlive: true })
    for (const property of ['bothHear', 'secondLives']) await untilHolds(asked, property)
    run.kill('SIGINT')
    const { stdout } = await run
    expect(JSON.parse(String(stdout))).toMatchObject({
      ...{ faults: 3, crashes: 0 },
      properties: [{ name: 'bothHear' }, { name: 'secondLives' }],
    })
    expect(await containers()).toEqual([])
  })

  test('a node that the configuration does not have is a container too', { timeout: 180_000 }, async () => {
    const run = begin('node', '--for', '170s', '--look', '200ms')
    const { control: asked } = await controlOf(run)
    await untilHolds(asked, 'bothHear')
    expect((await asked.add('c', 'a')).nodes.at(-1)).toMatchObject({ name: 'c', isAlive: true })
    const { stdout } = await asked.exec('c', ['node', '-p', 'require("node:os").hostname()'])
    expect(stdout.trim()).toBe('c')
    run.kill('SIGINT')
    await run
    expect(await containers()).toEqual([])
  })

  test('a program in a container has a terminal, with a path there', { timeout: 180_000 }, async () => {
    const run = begin('node', '--for', '170s')
    const { control: asked, origin, token } = await controlOf(run)
    while ((await asked.list()).nodes.some(({ isAlive }) => !isAlive)) await sleep(50)
    const say =
      'console.log([process.stdout.columns, require("node:fs").readlinkSync("/proc/self/fd/1")].join()); process.exit(7)'
    const { sees, ended } = person('.', [
      ...['control', '--url', origin, '--token', token, 'exec', '-it', 'a', '--', 'node', '-e', say],
    ])
    await sees(/100,\/dev\/pts\/\d+\r/)
    expect(await ended).toBe(7)
    run.kill('SIGINT')
    await run
  })

  test('after kill -9 no process of a container runs on', async () => {
    const run = begin('node', '--for', '60s')
    const { control: asked } = await controlOf(run)
    while ((await asked.list()).nodes.some(({ isAlive }) => !isAlive)) await sleep(50)
    await untilMore(asked, 'packets_forwarded_total')
    expect((await containers()).map(({ State }) => State)).toEqual(Array(4).fill('running'))
    process.kill(run.pid!, 'SIGKILL')
    await run
    while ((await containers()).length > 0) await sleep(50)
  })

  test('an image that is not there is said', async () => {
    expect(await begin('nothing', '--for', '1s')).toMatchObject({
      exitCode: 64,
      stderr: expect.stringContaining('nothing'),
    })
    expect(await containers()).toEqual([])
  })
})
