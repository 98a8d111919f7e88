import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jsonFile } from '../../../harness/config/config.ts'
import { clusterOf, directoryWith, stdoutOf, take } from '../system.ts'
import { asked, askedNatively } from './asked.ts'

const isRoot = process.getuid!() === 0

/** A directory of this machine with a file, which nodes see, and change for themselves. */
const machineWith = (content: string) => {
  const directory = directoryWith({ 'state.json': content })
  return { directory, file: join(directory, 'state.json') }
}

/** Something that only this machine has: nodes have a `/dev/shm` of their own. */
const hidden = (content: string): string => {
  const directory = join('/dev/shm', `lastnail-test-${randomUUID()}`)
  mkdirSync(directory)
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'state.json'), content)
  return directory
}

const sleep = 'echo up; exec sleep 1000000'
const readings = ['state.json', './there/state.json', '/deeper/there/state.json']

describe.skipIf(!isRoot)('links that a node makes (needs root)', () => {
  /** One to a file, one to a directory, one far from its working directory. */
  const misleading = (target: string) =>
    `ln -s ${target}/state.json state.json; ln -s ${target} there; mkdir /deeper; ln -s ${target} /deeper/there; ${sleep}`

  test('lead to its own files, held or at the pace native', async () => {
    const { directory, file } = machineWith('"the machine’s"')
    const script = `echo '"mine"' > ${file}; ${misleading(directory)}`
    const read = async (node: { file(path: string): Promise<Buffer> }) =>
      Promise.all(readings.map(async path => String(await node.file(path))))
    const mine = readings.map(() => '"mine"\n')
    expect((await asked({ command: ['sh', '-c', script] }, read)).value).toEqual(mine)
    expect(await askedNatively({ command: ['sh', '-c', script] }, read)).toEqual(mine)
  })

  test('never lead to what it cannot see', async () => {
    const script = `${misleading(hidden('"secret"'))}`
    const read = async (node: { file(path: string): Promise<Buffer> }) =>
      Promise.all(readings.map(path => node.file(path).then(String, error => error.code)))
    const nothing = readings.map(() => 'ENOENT')
    expect((await asked({ command: ['sh', '-c', script] }, read)).value).toEqual(nothing)
    expect(await askedNatively({ command: ['sh', '-c', script] }, read)).toEqual(nothing)
  })

  test('an observer of a file sees no state there, and a file that never ends is refused', async () => {
    const target = hidden('{ "secret": true }')
    const script = `ln -s ${target}/state.json state.json; mkfifo endless; ln -s /proc/1/root/proc/self/root other; ${sleep}`
    const cluster = clusterOf({ nodes: { n: { command: ['sh', '-c', script] } }, state: jsonFile('state.json') })
    expect(await cluster.reset()).toEqual([])
    expect(cluster.state().node('n').state).toBeUndefined()
    const { value } = await asked({ command: ['sh', '-c', script] }, node =>
      Promise.all(['endless', 'other/etc/hostname', '.'].map(path => node.file(path).catch(error => error.code))),
    )
    expect(value).toEqual(['EINVAL', 'EXDEV', 'EISDIR'])
  })

  test('do not lead out of it when it is rewound', async () => {
    const { directory } = machineWith('the machine’s')
    mkdirSync(join(directory, 'data'))
    writeFileSync(join(directory, 'data/state'), 'old')
    const target = hidden('secret')
    writeFileSync(join(target, 'state'), 'untouched')
    // What it wrote before its mark would be written again, through a link in place of the directory.
    const script = `cd ${directory}; echo mine > data/state; echo up; sleep 1; mv data away; ln -s ${target} data; echo moved; ${sleep}`
    const cluster = clusterOf({ nodes: { n: { command: ['bash', '-c', script] } } })
    for (let execution = 0; execution < 3; execution++) {
      await cluster.reset()
      expect(stdoutOf(cluster, 'n')).toEqual(['up'])
      await take(cluster, 'n timer +1000ms')
      expect(stdoutOf(cluster, 'n')).toContain('moved')
    }
    expect(readFileSync(join(target, 'state'), 'utf8')).toBe('untouched')
    expect(readFileSync(join(directory, 'data/state'), 'utf8')).toBe('old')
    expect(readdirSync(directory).sort()).toEqual(['data', 'state.json'])
  })
})

test.skipIf(!isRoot)(
  'a node that changes its root is rewound in place, and its files are found (needs root)',
  async () => {
    const jail = `
import os, shutil, time
os.makedirs('/jail/tmp')
os.chroot('/jail')
os.chdir('/')
print('jailed', flush=True)
n = 0
while True:
  time.sleep(1)
  n += 1
  open('/tmp/n', 'w').write(str(n))
  print(n, flush=True)
`
    const cluster = clusterOf({
      nodes: { n: { command: ['/usr/bin/python3', '-c', jail] } },
      state: async node => String(await node.file('/jail/tmp/n').catch(() => 'none')),
    })
    for (let execution = 0; execution < 3; execution++) {
      expect(await cluster.reset()).toEqual([])
      expect(stdoutOf(cluster, 'n')).toEqual(['jailed'])
      expect(cluster.state().node('n').state).toBe('none')
      for (const n of [1, 2]) {
        await take(cluster, 'n timer +1000ms')
        expect(stdoutOf(cluster, 'n').at(-1)).toBe(String(n))
        expect(cluster.state().node('n').state).toBe(String(n))
      }
    }
    expect(cluster.starts).toBe(1)
  },
)

describe.skipIf(!isRoot)('a node that misleads who serves it files of the kernel (needs root)', () => {
  const python = (code: string) => ({ command: ['/usr/bin/python3', '-u', '-c', code] })
  /** Makes a root of its own in a directory, in which such links are, and enters it. */
  const jailed = (directory: string, links: Readonly<Record<string, string>>, code: string) =>
    python(`
import os, time
os.makedirs('${directory}/sys/fs', exist_ok=True)
for path, target in ${JSON.stringify(links)}.items():
  os.makedirs(os.path.dirname('${directory}' + path), exist_ok=True)
  os.symlink(target, '${directory}' + path)
os.makedirs('${directory}/sys/fs/cgroup', exist_ok=True)
os.chroot('${directory}')
os.chdir('/')
${code}
time.sleep(1e9)`)
  const show = (paths: readonly string[]) => `
for path in ${JSON.stringify(paths)}:
  try: print(open(path).read())
  except OSError as error: print(error.strerror)
`

  test('is not told what a file holds that it cannot see', async () => {
    const secret = join(hidden('(secret) S 1 1'), 'state.json')
    const paths = ['stat', 'statm', 'status'].flatMap(name => [`/proc/1/${name}`, `/proc/1/task/1/${name}`])
    const links = Object.fromEntries(paths.map(path => [path, secret]))
    // What it opens instead is made in memory.
    const cluster = clusterOf({ nodes: { n: jailed('/dev/shm/jail', links, show([...paths, '/proc/self/stat'])) } })
    expect(await cluster.reset()).toEqual([])
    expect(new Set(stdoutOf(cluster, 'n'))).toEqual(new Set(['No such file or directory']))
  })

  test('has no file made where it cannot write', async () => {
    const [linked, jail] = [hidden('kept'), hidden('kept')]
    const open = show(['/proc/uptime', '/proc/loadavg'])
    const replaced = python(`
import os, time
os.symlink('${linked}', '/sys/fs/cgroup/0')
${open}
time.sleep(1e9)`)
    const nodes = { replaced, jailed: jailed('/jail', { '/sys/fs/cgroup': jail }, `${open}`) }
    const cluster = clusterOf({ nodes })
    await cluster.reset()
    for (const directory of [linked, jail]) expect(readdirSync(directory)).toEqual(['state.json'])
  })
})
