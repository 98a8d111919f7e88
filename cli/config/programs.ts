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
import { type ResolvedNode, resolveSystem } from '../../harness/config/config.ts'
import { packageRoot, version } from '../command/package.ts'
import type { LoadedConfig } from './load-config.ts'

/**
 * Hashes of what a configuration runs, by name: this tool, Node.js, the configuration, each node's program, the files
 * that its arguments name, and all files of the same kinds beside these and the configuration. Files that a program
 * loads from elsewhere are not included; the lock file stands for installed packages, and the name for an image.
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
 * One hash of what a node runs: its program and the files that its arguments name. Empty for a container, whose image
 * has a name, and if the program does not exist. A trace contains it, so that a later build is not mistaken for the
 * recorded one.
 */
export const hashOfRun = (node: ResolvedNode): string => {
  const path = node.image === undefined && node.command[0] !== undefined ? onPath(node.command[0]) : undefined
  if (path === undefined) return ''
  const hash = createHash('sha256').update(outlineOf(path))
  for (const file of filesOf(node)) hash.update(` ${hashOf(file)}`)
  return hash.digest('hex')
}

/**
 * Above this size, only a program's size, beginning and end are hashed: an interpreter may have a hundred megabytes.
 */
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

/** Files named by a node's arguments. */
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
/** Depth limit for directories. Deeper ones mostly hold what was installed or built. */
const depthMax = 8

/** Files of the same kind in a file's directory and below, and lock files there. */
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

/** Cached while the file does not change, because hashing a large program takes a moment. */
const hashOf = (path: string): string => {
  const { mtimeMs, size } = statSync(path)
  const key = `${path} ${mtimeMs} ${size}`
  const hash = hashes.get(key) ?? createHash('sha256').update(readFileSync(path)).digest('hex')
  hashes.set(key, hash)
  return hash
}

/** Hash of this tool's own code. */
const hashOfTool = (): string => {
  const built = join(packageRoot, 'dist/bundle')
  const hash = createHash('sha256')
  for (const name of readdirSync(built).sort()) hash.update(name).update(hashOf(join(built, name)))
  return hash.digest('hex')
}
