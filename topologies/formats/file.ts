import { readFileSync, writeFileSync } from 'node:fs'
import { extname } from 'node:path'
import { TopologyError } from '../error.ts'
import type { Topology } from '../topology.ts'
import { readAsRelationships } from './as-relationships.ts'
import { readBrite } from './brite.ts'
import { readGml, writeGml } from './gml.ts'
import { readGraphml, writeGraphml } from './graphml.ts'
import { readGtItm } from './gt-itm.ts'
import { readInet, writeInet } from './inet.ts'
import { readJson, writeJson } from './json.ts'
import { readModelnet } from './modelnet.ts'
import { readSndlib } from './sndlib.ts'

interface Format {
  /** Of its files, where it has one. */
  readonly extension?: string
  readonly looksLike: (text: string) => boolean
  readonly read: (text: string) => Topology
  /** Where it is written too. */
  readonly write?: (topology: Topology) => string
}

const startsWith = (pattern: RegExp) => (text: string) => pattern.test(text.slice(0, beginning))

/** How much of a file tells its format. */
const beginning = 10_000

const formats: readonly Format[] = [
  { extension: '.json', looksLike: startsWith(/^\s*\{/), read: readJson, write: writeJson },
  { extension: '.graphml', looksLike: startsWith(/<graphml[\s>]/), read: readGraphml, write: writeGraphml },
  { extension: '.gml', looksLike: startsWith(/^\s*graph\s*\[/m), read: readGml, write: writeGml },
  { extension: '.brite', looksLike: startsWith(/^\s*Topology:\s*\(/), read: readBrite },
  { looksLike: startsWith(/^GRAPH \(|^\* GraphBase/), read: readGtItm },
  { looksLike: startsWith(/<network[\s>][\s\S]*<networkStructure[\s>]/), read: readSndlib },
  { looksLike: startsWith(/<(topology|model|allpairs)[\s>]/), read: readModelnet },
  { looksLike: startsWith(/^(#.*\n|\s*\n)*\d+\|\d+\|-?\d/), read: readAsRelationships },
  { extension: '.inet', looksLike: startsWith(/^\s*\d+\s+\d+\s*\n/), read: readInet, write: writeInet },
]

/**
 * Reads a file in the format that it looks like, or else that of its extension. Throws a `TopologyError` with the path.
 */
export const readTopology = (path: string): Topology => {
  const text = readText(path)
  const format =
    formats.find(({ looksLike }) => looksLike(text)) ?? formats.find(({ extension }) => hasExtension(path, extension))
  if (!format) throw new TopologyError(`${path}: expected a topology in ${formatNames}, found none of them`)
  try {
    return format.read(text)
  } catch (error) {
    if (!(error instanceof TopologyError)) throw error
    throw new TopologyError(
      error.problems.map(problem => `${path}: ${problem}`),
      { cause: error },
    )
  }
}

const formatNames =
  'JSON, GraphML, GML, INET, BRITE, ModelNet’s XML, SNDlib’s XML, GT-ITM’s alternative format or CAIDA’s relationships'

/** Writes a file in the format of its extension. Throws a `TopologyError` if that fails. */
export const writeTopology = (path: string, topology: Topology): void => writeText(path, writerOf(path)(topology))

/** How a file of this name is written. Throws a `TopologyError` if its extension is of no format that is written. */
export const writerOf = (path: string): NonNullable<Format['write']> => {
  const format = formats.find(({ extension, write }) => write && hasExtension(path, extension))
  if (format?.write) return format.write
  const extensions = formats.flatMap(({ extension, write }) => (extension && write ? [extension] : []))
  throw new TopologyError(`${path}: expected a file that ends in ${extensions.join(', ')}`)
}

const hasExtension = (path: string, extension: string | undefined) => extname(path).toLowerCase() === extension

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
