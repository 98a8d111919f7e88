// Kills the tool by SIGKILL at random moments of its commands, and says what of it is left after the next start:
//
//     node scripts/killed.mjs [--times 200] [--seed 1] [--containers]
//
// As root, after `npm run build`. All happens in namespaces of its own (pid, mount, network), with own memory in place of
// /tmp and /dev/shm, so that whatever is there was left. With --containers also in those of the Docker engine that
// DOCKER_HOST names, which must have an image `node`; its processes are none of that pid namespace, so this machine's is used.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    containers: { type: 'boolean', default: false },
    // Where all happens: given to the run in the namespaces.
    inside: { type: 'string' },
  },
})
const times = Number(values.times)

const root = join(import.meta.dirname, '..')
const tool = join(root, 'bin/lastnail.js')
const place = values.inside ?? join('/tmp', `lastnail-killed-${process.pid}`)

const enter = () => {
  const namespaces = [
    '--mount',
    '--net',
    ...(values.containers ? [] : ['--pid', '--fork', '--kill-child', '--mount-proc']),
  ]
  const memoryOn = directory => `mount -t tmpfs -o mode=1777 killed ${directory}`
  // The tool itself may be in /tmp.
  const ownTmp = root.startsWith('/tmp/')
    ? ['mount --bind "$0" /mnt', memoryOn('/tmp'), 'mkdir -p "$0"', 'mount --move /mnt "$0"']
    : [memoryOn('/tmp')]
  // A Docker engine has its socket in /tmp, and mounts directories of it: these stay this machine's.
  const own = values.containers ? [] : [...ownTmp, memoryOn('/dev/shm')]
  const script = ['ip link set lo up', ...own, 'exec "$@"'].join(' && ')
  const inner = ['sh', '-c', script, root, process.execPath, ...process.argv.slice(1), '--inside', place]
  return spawnSync('unshare', [...namespaces, ...inner], { stdio: 'inherit' }).status ?? 1
}

/** The same for the same seed (mulberry32). */
const randomOf = seed => () => {
  seed = (seed + 0x6d2b79f5) | 0
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

const start = (args, more = {}) =>
  spawn(process.execPath, [tool, ...args], { cwd: place, stdio: ['pipe', 'ignore', 'ignore'], ...more })

const run = (...args) => spawnSync(process.execPath, [tool, ...args], { cwd: place, encoding: 'utf8' })

const compose = `
services:
  a: &adder
    image: node
    command: ['node', '/srv/adder.js', 'b']
    volumes: ['.:/srv:ro']
  b: { <<: *adder, command: ['node', '/srv/adder.js', 'a'] }
`

/** Each begins a command that goes on for longer than it lives. */
const commandsOn = trace =>
  values.containers
    ? {
        'check of containers': () => start(['check', 'compose.yaml', '--for', '10m', '--workers', '1']),
        'emulate of containers': () => start(['emulate', 'compose.yaml', '--for', '10m']),
      }
    : {
        check: () => start(['check', 'adders.config.ts', '--property', 'atMostTwo', '--for', '10m', '--workers', '1']),
        'check with workers': () =>
          start(['check', 'adders.config.ts', '--property', 'atMostTwo', '--for', '10m', '--workers', '2']),
        emulate: () => start(['emulate', 'counter.config.ts', '--for', '10m', '--look', '100ms']),
        debug: () => {
          const debugging = start(['debug', trace])
          debugging.stdin.on('error', () => undefined)
          debugging.stdin.write('step\nback\n'.repeat(1000))
          return debugging
        },
        serve: () => start(['serve', trace]),
      }

const nextStart = () =>
  values.containers
    ? run('check', 'compose.yaml', '--executions', '1', '--workers', '1')
    : run('check', 'adders.config.ts', '--property', 'atMostTwo', '--executions', '1', '--workers', '1')

const unlessGone = read => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const processes = () =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    // In the machine's own pid namespace, only what works where the tool worked.
    .filter(pid => !values.containers || unlessGone(() => readlinkSync(`/proc/${pid}/cwd`)) === place)
    .flatMap(pid => {
      const command = unlessGone(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' '))
      const state = unlessGone(() => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))[1])
      return command === undefined || state === 'Z' ? [] : [`process ${pid} ${command}`]
    })

const linesOf = (what, text) =>
  text
    .split('\n')
    .filter(Boolean)
    .map(line => `${what} ${line}`)

const containers = () =>
  values.containers
    ? linesOf(
        'container',
        spawnSync(
          'curl',
          ['-s', '--unix-socket', process.env.DOCKER_HOST.replace('unix://', ''), 'http://d/containers/json?all=1'],
          { encoding: 'utf8' },
        ).stdout.replace(/^\[\]\s*$/, ''),
      )
    : []

/** All that could be left, a line each. */
const seen = () => [
  ...processes(),
  ...containers(),
  ...linesOf('mount', readFileSync('/proc/self/mountinfo', 'utf8')),
  ...linesOf('device', readFileSync('/proc/net/dev', 'utf8').replaceAll(/:.*/g, '')),
  ...linesOf('named namespace', unlessGone(() => readdirSync('/run/netns').join('\n')) ?? ''),
  ...linesOf('control group', readdirSync('/sys/fs/cgroup').join('\n')),
  ...linesOf('file', unlessGone(() => readdirSync('/dev/shm/lastnail').filter(isMine).join('\n')) ?? ''),
  ...(values.containers ? [] : linesOf('file', readdirSync('/tmp').join('\n'))),
]

/** Run directories of others who run the tool now are none of ours. */
const isMine = name =>
  !values.containers || unlessGone(() => readlinkSync(`/proc/${name.split('-')[0]}/cwd`)) === undefined

/** What is there besides what was before. A process that was killed may take an instant to be gone. */
const left = async before => {
  for (let waitedMs = 0; ; waitedMs += 50) {
    const found = seen().filter(line => !before.includes(line))
    if (found.length === 0 || waitedMs > 5000) return found
    await sleep(50)
  }
}

const inside = async () => {
  const random = randomOf(Number(values.seed))
  mkdirSync(place, { recursive: true })
  cpSync(join(root, 'test/cli/fixtures'), place, { recursive: true })
  if (values.containers) writeFileSync(join(place, 'compose.yaml'), compose)
  const found = run(
    'check',
    'adders.config.ts',
    '--property',
    'neverWritten',
    '--search',
    'walk',
    '--executions',
    '5',
    '--json',
  )
  const { trace } = JSON.parse(found.stdout.slice(found.stdout.trimEnd().lastIndexOf('\n') + 1))
  // How long a whole command takes here: moments are spread over its start and some of its work.
  const begun = performance.now()
  nextStart()
  const spanMs = 1.5 * (performance.now() - begun)
  const before = seen()
  const commands = Object.entries(commandsOn(trace))
  const leftAtOnce = Object.fromEntries(commands.map(([name]) => [name, 0]))
  let wrong = 0
  for (let time = 0; time < times; time++) {
    const [name, begin] = commands[time % commands.length]
    const killed = begin()
    const ended = new Promise(resolve => killed.once('exit', resolve))
    const atMs = Math.round(random() * spanMs)
    await sleep(atMs)
    killed.kill('SIGKILL')
    await ended
    await sleep(100)
    if (seen().some(line => !before.includes(line))) leftAtOnce[name] += 1
    const { status, stderr } = nextStart()
    const still = await left(before)
    if (still.length === 0 && status === 0) continue
    wrong += 1
    console.log(
      `${name}, killed after ${atMs} ms: the next start ended with ${status}${stderr && `: ${stderr.trim()}`}`,
    )
    for (const line of still) console.log(`  left: ${line}`)
  }
  console.log(
    `${times} kills over ${commands.length} commands in their first ${Math.round(spanMs)} ms (seed ${values.seed}): ` +
      `after the next start something was left ${wrong} times; before it ${JSON.stringify(leftAtOnce)}`,
  )
  rmSync(place, { recursive: true, force: true })
  return wrong === 0 ? 0 : 1
}

process.exitCode = values.inside === undefined ? enter() : await inside()
