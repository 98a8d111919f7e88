import { readFileSync, writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { TopologyError } from '../error.ts'
import type { Topology } from '../topology.ts'
import { readGml, writeGml } from './gml.ts'
import { readGraphml, writeGraphml } from './graphml.ts'
import { readInet, writeInet } from './inet.ts'
import { readJson, writeJson } from './json.ts'

interface Format {
  readonly read: (text: string) => Topology
  readonly write: (topology: Topology) => string
}

/** By file extension. */
const formats: Readonly<Record<string, Format>> = {
  '.json': { read: readJson, write: writeJson },
  '.graphml': { read: readGraphml, write: writeGraphml },
  '.gml': { read: readGml, write: writeGml },
  '.inet': { read: readInet, write: writeInet },
}

/** Reads a file in the format of its extension. Throws a `TopologyError` with the path. */
export const readTopology = (path: string): Topology => {
  const { read } = formatOf(path)
  const text = readText(path)
  try {
    return read(text)
  } catch (error) {
    if (!(error instanceof TopologyError)) throw error
    throw new TopologyError(
      error.problems.map(problem => `${path}: ${problem}`),
      { cause: error },
    )
  }
}

/** Writes a file in the format of its extension. Throws a `TopologyError` if that fails. */
export const writeTopology = (path: string, topology: Topology): void => writeText(path, formatOf(path).write(topology))

/** The format of a file name. Throws a `TopologyError` if there is none. */
export const formatOf = (path: string): Format => {
  const format = formats[extname(path).toLowerCase()]
  if (format) return format
  throw new TopologyError(`${path}: expected a file that ends in ${Object.keys(formats).join(', ')}`)
}

/** Content of a file. Throws a `TopologyError` if it cannot be read. */
export const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new TopologyError(`cannot read ${path}: ${reasonOf(cause)}`, { cause })
  }
}

/** Writes a file. Throws a `TopologyError` if that fails. */
export const writeText = (path: string, content: string): void => {
  try {
    writeFileSync(path, content)
  } catch (cause) {
    throw new TopologyError(`cannot write ${path}: ${reasonOf(cause)}`, { cause })
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
}

const reasonOf = (error: unknown): string => {
  const { code = '', message } = error as NodeJS.ErrnoException
  return reasons[code] ?? message
}
