import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A position in a program. */
export interface Frame {
  readonly path: string
  readonly line: number
}

const root = join(import.meta.dirname, '..')
const own = ['bin', 'campaign', 'checker', 'cli', 'docker', 'harness', 'proxy', 'report', 'topologies'].map(name =>
  join(root, name, '/'),
)
/** Code that a configuration calls directly. Errors thrown there are about how it was called. */
const handedOut = ['harness/clients/', 'harness/native/native-handle', 'harness/config/', 'proxy/virtual-host'].map(
  name => join(root, name),
)

/** Stack frames of an error, the innermost first, without those of Node.js and of packages. */
export const framesOf = (error: unknown): Frame[] => {
  const stack = error instanceof Error ? error.stack : undefined
  if (typeof stack !== 'string') return []
  return stack.split('\n').flatMap(line => {
    const [, place, number] = /^\s+at (?:.*\()?((?:file:\/\/)?\/.*?):(\d+):\d+\)?$/.exec(line) ?? []
    if (place === undefined || place.includes('/node_modules/')) return []
    return [{ path: place.startsWith('file:') ? fileURLToPath(place) : place, line: Number(number) }]
  })
}

const isOwn = ({ path }: Frame) => own.some(folder => path.startsWith(folder))
const isHandedOut = ({ path }: Frame) => handedOut.some(prefix => path.startsWith(prefix))

/** Where in a configuration, or in a file that it imports, an error was thrown: `raft.config.ts:12`. */
export const placeInConfiguration = (error: unknown): string | undefined => {
  const frame = framesOf(error).find(each => !isOwn(each))
  if (frame === undefined) return undefined
  const near = relative('', frame.path)
  return `${near.startsWith('..') ? frame.path : near}:${frame.line}`
}

/**
 * Whether an error is a defect of this tool: it was thrown by the tool's own code, other than code that configurations
 * call directly.
 */
export const isDefect = (error: unknown): boolean => {
  const [innermost] = framesOf(error)
  return innermost !== undefined && isOwn(innermost) && !isHandedOut(innermost)
}
