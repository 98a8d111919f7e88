// Installs what the given things need and this machine lacks: `node scripts/install.mjs test`, `… demo`, `… pack`.
// It runs before anything is installed, so it uses nothing but Node.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Debian packages, by a program that each of them brings. */
const packages = {
  'redis-server': 'redis-server',
  iperf3: 'iperf3',
  '/usr/bin/python3': 'python3',
  go: 'golang-go',
  unshare: 'util-linux',
  chromium: 'chromium',
  dockerd: 'docker.io',
  '/bin/busybox': 'busybox-static',
  '/usr/bin/musl-gcc': 'musl-tools',
  etcd: 'etcd-server',
}
const wanted = { test: Object.keys(packages), demo: ['unshare'], pack: [] }

const run = (program, args, options = {}) => {
  console.error(`$ ${program} ${args.join(' ')}`)
  execFileSync(program, args, { stdio: ['ignore', 2, 2], cwd: root, ...options })
}

const isOnPath = program =>
  program.startsWith('/')
    ? existsSync(program)
    : process.env.PATH.split(':').some(place => existsSync(join(place, program)))

/** npm leaves a copy of the lock file that it installed from. */
const isInstalled = directory => {
  const installed = join(directory, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  const { packages: wantedPackages } = JSON.parse(readFileSync(join(directory, 'package-lock.json'), 'utf8'))
  const { packages: found } = JSON.parse(readFileSync(installed, 'utf8'))
  return Object.entries(wantedPackages).every(
    ([name, { version, optional }]) => name === '' || optional || found[name]?.version === version,
  )
}

const installNpm = directory => {
  if (!isInstalled(directory)) run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: directory })
}

/** What cannot be installed is skipped by name by the tests that need it. */
const installDebian = programs => {
  const missing = programs.filter(program => !isOnPath(program)).map(program => packages[program])
  if (missing.length === 0) return
  if (process.getuid() !== 0 || !isOnPath('apt-get')) {
    console.error(`missing, and only root can install it: ${missing.join(', ')}`)
    return
  }
  // A service that is installed must not start itself here.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  try {
    run('apt-get', ['update', '-qq'], { env })
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], { env })
  } catch (error) {
    console.error(`could not install ${missing.join(', ')}: ${error.message}`)
  }
}

const what = process.argv[2]
installDebian(wanted[what])
installNpm(root)
if (what !== 'pack') installNpm(join(root, 'examples/liferaft'))
