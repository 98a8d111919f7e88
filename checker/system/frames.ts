import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A position in a program. */
export interface CodePosition {
  readonly path: string
  readonly line: number
}

/** The directory of all folders: of the sources, or of the modules that they are compiled to. */
const root = join(import.meta.dirname, '../..')
const own = [
  'bin',
  'campaign',
  'checker',
  'cli',
  'dist',
  'docker',
  'harness',
  'linux',
  'proxy',
  'report',
  'topologies',
].map(name => join(root, name, '/'))
/** Code that a configuration calls directly. Errors thrown there are about how it was called. */
const handedOut = ['harness/clients/', 'harness/native/native-handle', 'harness/config/', 'proxy/virtual-host'].map(
  name => join(root, name),
)

/** Stack frames of an error, the innermost first, without those of Node.js and of packages. */
const stackFramesOf = (error: unknown): CodePosition[] => {
  const stack = error instanceof Error ? error.stack : undefined
  if (typeof stack !== 'string') return []
  return stack.split('\n').flatMap(text => {
    const [, place, line, column] = /^\s+at (?:.*\()?((?:file:\/\/)?\/.*?):(\d+):(\d+)\)?$/.exec(text) ?? []
    if (place === undefined || place.includes('/node_modules/')) return []
    const path = place.startsWith('file:') ? fileURLToPath(place) : place
    return [sourceOf(path, Number(line), Number(column))]
  })
}

const bundle = join(root, 'dist/bundle/')

/** The source position of a position in the bundle; a position elsewhere is returned unchanged. */
const sourceOf = (path: string, line: number, column: number): CodePosition => {
  const map = path.startsWith(bundle) ? mapOf(path) : undefined
  const source = map?.findEntry(line - 1, column - 1)
  if (source === undefined || !('originalSource' in source)) return { path, line }
  return { path: resolve(bundle, source.originalSource), line: source.originalLine + 1 }
}

const maps = new Map<string, SourceMap | undefined>()

/** Undefined if there is none. */
const mapOf = (path: string): SourceMap | undefined => {
  if (!maps.has(path)) maps.set(path, readMap(`${path}.map`))
  return maps.get(path)
}

const readMap = (path: string): SourceMap | undefined =>
  existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined

const isOwn = ({ path }: CodePosition) => own.some(folder => path.startsWith(folder))
const isHandedOut = ({ path }: CodePosition) => handedOut.some(prefix => path.startsWith(prefix))

/** Where in a configuration, or in a file that it imports, an error was thrown: `raft.config.ts:12`. */
export const placeInConfiguration = (error: unknown): string | undefined => {
  const frame = stackFramesOf(error).find(each => !isOwn(each))
  if (frame === undefined) return undefined
  const near = relative('', frame.path)
  return `${near.startsWith('..') ? frame.path : near}:${frame.line}`
}

/**
 * Whether an error is a defect of this tool: it was thrown by the tool's own code, other than code that configurations
 * call directly.
 */
export const isDefect = (error: unknown): boolean => {
  const [innermost] = stackFramesOf(error)
  return innermost !== undefined && isOwn(innermost) && !isHandedOut(innermost)
}
