import { createHash } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { type ResolvedNode, resolveSystem } from '../harness/config.ts'
import type { LoadedConfig } from './load-config.ts'
import { version } from './version.ts'

/**
 * Hashes of what a configuration runs, by name: this tool, Node.js, the configuration, the program of each node and the
 * files that its arguments name, and beside these and the configuration all files of the same kinds. Not what a program
 * loads from anywhere else: of what is installed for it, the lock file stands for it. Of an image its name.
 */
export const programsOf = (config: LoadedConfig): Readonly<Record<string, string>> => {
  const { nodes } = resolveSystem(config.definition, { directory: config.directory })
  const files = new Set([config.path, ...nodes.flatMap(filesOf)])
  const code = new Set([...files].flatMap(besides))
  const named = (path: string) => relative(config.directory, path)
  return {
    lastnail: `${version} ${hashOfTool()}`,
    'Node.js': process.version,
    ...Object.fromEntries(
      nodes.flatMap(({ name, image }) => (image === undefined ? [] : [[`image of ${name}`, image]])),
    ),
    ...Object.fromEntries(nodes.flatMap(programOf)),
    ...Object.fromEntries([...files, ...code].sort().map(path => [named(path), hashOf(path)])),
  }
}

/**
 * One hash for what a node runs: its program, and the files that its arguments name; empty for a container, whose image has a
 * name, and where there is no such program. A trace has it, so that nobody takes a later build for what was recorded.
 */
export const hashOfRun = (node: ResolvedNode): string => {
  const path = node.image === undefined && node.command[0] !== undefined ? onPath(node.command[0]) : undefined
  if (path === undefined) return ''
  const hash = createHash('sha256').update(outlineOf(path))
  for (const file of filesOf(node)) hash.update(` ${hashOf(file)}`)
  return hash.digest('hex')
}

/** Beyond this, of a program its size, its beginning and its end count: an interpreter has a hundred megabytes. */
const outlineBytes = 1 << 20

const outlineOf = (path: string): Buffer => {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const length = Math.min(size, outlineBytes)
    const outline = Buffer.alloc(2 * length + 8)
    outline.writeDoubleLE(size)
    readSync(file, outline, 8, length, 0)
    readSync(file, outline, 8 + length, length, size - length)
    return outline
  } finally {
    closeSync(file)
  }
}

const programOf = ({ command, image }: ResolvedNode): [string, string][] => {
  const [program] = command
  if (image !== undefined || program === undefined) return []
  const path = onPath(program)
  return [[program, path === undefined ? 'is not there' : hashOf(path)]]
}

const onPath = (program: string): string | undefined => {
  const places = program.includes('/')
    ? [program]
    : (process.env.PATH ?? '').split(':').map(place => join(place, program))
  return places.find(path => {
    try {
      accessSync(path, constants.X_OK)
      return statSync(path).isFile()
    } catch {
      return false
    }
  })
}

/** Files that the arguments of a node name. */
const filesOf = ({ command, image, cwd }: ResolvedNode): string[] => {
  if (image !== undefined || cwd === undefined) return []
  return command
    .slice(1)
    .map(argument => resolve(cwd, argument))
    .filter(path => existsSync(path) && statSync(path).isFile())
}

const locks = [
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'go.sum',
  'Cargo.lock',
  'requirements.txt',
  'poetry.lock',
]
const isLeftOut = (name: string) => name.startsWith('.') || name === 'node_modules' || name === 'schedules'
/** Directories deeper than this hold what was installed or built, more than what somebody wrote. */
const depthMax = 8

/** Files of the same kind in the directory of a file and below, and lock files there. */
const besides = (path: string): string[] => {
  const kind = extname(path)
  const directory = dirname(path)
  const walk = (at: string, depth: number): string[] =>
    readdirSync(at, { withFileTypes: true }).flatMap(entry => {
      const here = join(at, entry.name)
      if (isLeftOut(entry.name)) return []
      if (entry.isDirectory()) return depth < depthMax ? walk(here, depth + 1) : []
      return entry.isFile() && ((kind !== '' && extname(here) === kind) || locks.includes(entry.name)) ? [here] : []
    })
  return walk(directory, 0)
}

const hashes = new Map<string, string>()

/** Of a large program it takes a moment: once while it stays as it is. */
const hashOf = (path: string): string => {
  const { mtimeMs, size } = statSync(path)
  const key = `${path} ${mtimeMs} ${size}`
  const hash = hashes.get(key) ?? createHash('sha256').update(readFileSync(path)).digest('hex')
  hashes.set(key, hash)
  return hash
}

/** Of this tool's own code. */
const hashOfTool = (): string => {
  const root = join(import.meta.dirname, '..')
  const own = ['campaign', 'checker', 'cli', 'docker', 'harness', 'proxy']
  const hash = createHash('sha256')
  for (const folder of own)
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort())
      if (/\.[jt]s$/.test(name)) hash.update(name).update(hashOf(join(root, folder, name)))
  return hash.digest('hex')
}
