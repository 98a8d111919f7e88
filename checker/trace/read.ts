import { readFileSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'
import { TraceError } from './error.ts'
import { allTimersUntil, decodeRecord, formatVersion, magic, type StoredRecord, type TraceRecord } from './schema.ts'
import { unseal } from './seal.ts'
import { ChangedTimers } from './timers.ts'
import type { RecordedStep, Tear, Trace, TraceEnd, TraceHeader } from './trace.ts'

export interface ReadTraceOptions {
  /**
   * `refuse` (the default): a torn trace is an error. `accept`: returns the steps that are whole; `torn` says where
   * they end.
   */
  readonly torn?: 'refuse' | 'accept'
}

/** Reads a whole trace. @throws TraceError with a one-line message */
export const readTrace = (path: string, { torn = 'refuse' }: ReadTraceOptions = {}): Trace => {
  let header: TraceHeader | undefined
  let end: TraceEnd | undefined
  let tear: Tear | undefined
  const steps: RecordedStep[] = []
  for (const item of traceRecords(path)) {
    if ('header' in item) header = item.header
    else if ('step' in item) steps.push(item.step)
    else if ('end' in item) end = item.end
    else tear = item.torn
  }
  if (tear && (torn === 'refuse' || header === undefined)) throw tornError(path, tear)
  return { header: header!, steps, end, torn: tear }
}

/** What a schedule needs of a step. */
export type BriefStep = Pick<RecordedStep, 'index' | 'choice' | 'atMs' | 'input'>

/**
 * The beginning of a trace, without what its steps sent, printed and came to: a run of an hour has hundreds of thousands.
 * A torn trace is read as far as it goes, and what is damaged further on is not noticed.
 *
 * @param last the last step that is read; all by default
 *
 * @throws TraceError
 */
export const readWay = (
  path: string,
  last = Number.POSITIVE_INFINITY,
): { readonly header: TraceHeader; readonly steps: readonly BriefStep[] } => {
  let header: TraceHeader | undefined
  const steps: BriefStep[] = []
  for (const item of traceRecords(path)) {
    if ('header' in item) header = item.header
    else if ('step' in item && item.step.index <= last) steps.push(briefly(item.step))
    else if ('torn' in item && header === undefined) throw tornError(path, item.torn)
    else break
  }
  return { header: header!, steps }
}

const briefly = ({ index, choice, atMs, input }: RecordedStep): BriefStep => ({
  index,
  choice,
  ...(atMs !== undefined && { atMs }),
  ...(input !== undefined && { input }),
})

/**
 * The records of a trace, each decoded when it is asked for: the header, the steps, and the end or, in a torn trace,
 * where it is torn. Throws a `TraceError` for a file that is not a trace, and at a damaged record.
 */
export function* traceRecords(path: string): Generator<TraceRecord | { readonly torn: Tear }, void> {
  const file = readFile(path)
  const { version, length } = firstLineOf(path, file)
  const timers = version <= allTimersUntil ? new ChangedTimers() : undefined
  let afterStep = -1
  let expected = 'header'
  /** The latest step that is kept in outline, until it is certain that nothing more is known after it. */
  let outline: RecordedStep | undefined
  for (const { byte, found } of storedRecords(file, length)) {
    if (expected === 'nothing') {
      if (found === 'torn' && byte === file.length) return
      throw damagedError(path, byte, afterStep)
    }
    if (typeof found === 'object' && 'known' in found) {
      if (outline?.index !== found.known.index) throw damagedError(path, byte, afterStep)
      outline = undefined
      yield { step: found.known }
      continue
    }
    if (outline) yield { step: outline }
    outline = undefined
    if (found === 'torn') return yield { torn: { byte, afterStep } }
    if (found === 'damaged' || (expected === 'header') !== 'header' in found) throw damagedError(path, byte, afterStep)
    if ('step' in found) {
      if (found.step.index !== afterStep + 1) throw missingError(path, afterStep + 1)
      afterStep += 1
    }
    if ('end' in found && afterStep < 0) throw missingError(path, 0)
    if ('step' in found && found.step.keeps) outline = found.step
    else yield timers && 'step' in found ? { step: { ...found.step, timers: timers.next(found.step.timers) } } : found
    expected = 'end' in found ? 'nothing' : 'step'
  }
}

type WholeRecord = Exclude<StoredRecord, { readonly block: Uint8Array }>

interface Stored {
  /** Where it begins in the file; of a compressed one, where its block does. */
  readonly byte: number
  readonly found: WholeRecord | 'torn' | 'damaged'
}

/** The records from an offset of the file on, followed by the reason why they end. */
function* storedRecords(file: Buffer, start: number): Generator<Stored, void> {
  /** After a block, the last step that it holds. */
  let blockEnd: number | undefined
  for (let byte = start; ; ) {
    const unsealed = byte === file.length ? 'torn' : unseal(file, byte)
    const stored = typeof unsealed === 'string' ? undefined : tryDecode(unsealed.payload)
    // The writer was killed when it had written a block over its records, and had not yet cut off the rest of them.
    if (blockEnd !== undefined && unsealed !== 'torn' && isRest(stored, blockEnd)) return yield { byte, found: 'torn' }
    if (typeof unsealed === 'string' || stored === undefined)
      return yield { byte, found: unsealed === 'torn' ? 'torn' : 'damaged' }
    blockEnd = undefined
    for (const record of 'block' in stored ? recordsIn(stored.block) : [stored]) {
      yield { byte, found: record }
      if (record === 'damaged') return
      if ('block' in stored && 'step' in record) blockEnd = record.step.index
    }
    byte = unsealed.end
  }
}

const isRest = (record: StoredRecord | undefined, blockEnd: number): boolean =>
  record === undefined || ('step' in record && record.step.index <= blockEnd)

/** What a block holds, once its checksum was right: whole records. */
function* recordsIn(block: Uint8Array): Generator<WholeRecord | 'damaged', void> {
  const records = tryInflate(block)
  for (let offset = 0; records === undefined || offset < records.length; ) {
    const unsealed = records === undefined ? 'damaged' : unseal(records, offset)
    const record = typeof unsealed === 'string' ? undefined : tryDecode(unsealed.payload)
    if (typeof unsealed === 'string' || record === undefined || 'block' in record) return yield 'damaged'
    yield record
    offset = unsealed.end
  }
}

const tryInflate = (block: Uint8Array): Buffer | undefined => {
  try {
    return inflateRawSync(block)
  } catch {
    return undefined
  }
}

const readFile = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    const why = code === 'ENOENT' ? 'no such file' : code === 'EISDIR' ? 'it is a directory' : (cause as Error).message
    throw new TraceError('missing', `cannot read the trace ${path}: ${why}`, { cause })
  }
}

/** The format's version, and the length of the line that says it. */
const firstLineOf = (path: string, file: Buffer): { readonly version: number; readonly length: number } => {
  const start = file.toString('latin1', 0, magic.length + 11)
  const line = new RegExp(`^${magic}(\\d+)\\n`).exec(start)
  if (line) {
    const version = Number(line[1])
    if (version <= formatVersion) return { version, length: line[0].length }
    throw new TraceError(
      'newer',
      `${path} is a trace of format ${version}, written by a newer lastnail; this one reads up to format ${formatVersion}`,
    )
  }
  if (file.length > 0 && `${magic}${formatVersion}\n`.startsWith(start))
    throw tornError(path, { byte: 0, afterStep: -1 })
  const found = file.length === 0 ? 'is empty' : `begins with ${JSON.stringify(start)}`
  throw new TraceError('foreign', `${path} is not a trace: expected it to begin with "${magic}", but it ${found}`)
}

const tryDecode = (payload: Uint8Array): StoredRecord | undefined => {
  try {
    return decodeRecord(payload)
  } catch {
    return undefined
  }
}

const tornError = (path: string, tear: Tear) => new TraceError('torn', describeTear(path, tear))

/** One line of text. */
export const describeTear = (path: string, { byte, afterStep }: Tear): string =>
  `the trace ${path} is torn at byte ${byte}, ${place(afterStep)}: the tool ended while it wrote`

const damagedError = (path: string, byte: number, afterStep: number) =>
  new TraceError('damaged', `the trace ${path} is damaged at byte ${byte}, ${place(afterStep)}`)

const missingError = (path: string, step: number) =>
  new TraceError('damaged', `the trace ${path} lacks ${step === 0 ? 'the start' : `step ${step}`}`)

const place = (afterStep: number) => (afterStep < 0 ? 'before its first step' : `after step ${afterStep}`)
