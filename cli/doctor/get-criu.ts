import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { makeDirectories } from '../../checker/system/written.ts'
import { criuDirectory } from '../../harness/checkpoint/criu.ts'
import { MachineLacks } from '../command/exit-code.ts'

const suite = 'sid'
const publicMirror = 'http://deb.debian.org/debian'
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/**
 * Downloads CRIU and the libraries that it needs from a later Debian and unpacks them in a directory of their own.
 * Nothing is installed, and the machine's package lists do not change. apt verifies the packages by Debian's keys as
 * always.
 *
 * @returns the path of the program
 *
 * @throws MachineLacks
 */
export const getCriu = async (): Promise<string> => {
  for (const program of ['/usr/bin/apt-get', '/usr/bin/dpkg-deb', keyring])
    if (!existsSync(program)) throw new MachineLacks(`cannot get CRIU: there is no ${program}; ${remedies[program]}`)
  const target = criuDirectory()
  const work = makeWork(target)
  try {
    const archives = await download(work)
    const root = join(work, 'root')
    for (const archive of archives) await execa('dpkg-deb', ['--extract', archive, root])
    rmSync(target, { recursive: true, force: true })
    renameSync(root, target)
    return target
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.split('\n').find(line => /^E:/.test(line))
    throw new MachineLacks(`cannot get CRIU from ${mirror()}: ${said ?? (error as Error).message}`, { cause: error })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** @throws MachineLacks */
const makeWork = (target: string): string => {
  try {
    makeDirectories(dirname(target))
    return mkdtempSync(`${target}-`)
  } catch (cause) {
    throw new MachineLacks(`cannot put CRIU into ${target}: ${(cause as Error).message}`, { cause })
  }
}

const elsewhere = 'install criu 4.2 or newer as your distribution does'
const remedies: Record<string, string> = {
  '/usr/bin/apt-get': elsewhere,
  '/usr/bin/dpkg-deb': elsewhere,
  [keyring]: 'apt-get install debian-archive-keyring',
}

/** With its own package lists and archives, and an empty list of installed packages. */
const download = async (work: string): Promise<string[]> => {
  for (const directory of ['state/lists/partial', 'cache/archives/partial'])
    mkdirSync(join(work, directory), { recursive: true })
  writeFileSync(join(work, 'status'), '')
  writeFileSync(join(work, 'sources.list'), `deb [signed-by=${keyring}] ${mirror()} ${suite} main\n`)
  const settings = {
    'Dir::Etc::sourcelist': join(work, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State': join(work, 'state'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': join(work, 'cache'),
    'APT::Architecture': 'amd64',
    'APT::Sandbox::User': '',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await execa('apt-get', [...options, 'update'])
  await execa('apt-get', [...options, 'install', '--yes', '--download-only', '--no-install-recommends', 'criu'])
  const archives = join(work, 'cache/archives')
  return readdirSync(archives)
    .filter(name => name.endsWith('.deb'))
    .map(name => join(archives, name))
}

/** This machine's own mirror if it is a Debian, otherwise the public one. */
const mirror = (): string => {
  const directory = '/etc/apt/sources.list.d'
  const files = [
    '/etc/apt/sources.list',
    ...(existsSync(directory) ? readdirSync(directory) : []).map(each => join(directory, each)),
  ]
  const uris = files
    .filter(path => existsSync(path))
    .flatMap(path => readFileSync(path, 'utf8').match(/^[^#\n]*/gm) ?? [])
  return uris.map(line => /https?:\S+\/debian(?=\/?(\s|$))/.exec(line)?.[0]).find(Boolean) ?? publicMirror
}
