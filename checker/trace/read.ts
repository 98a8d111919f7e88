import { readFileSync } from 'node:fs'
import { TraceError } from './error.ts'
import { decodeRecord, formatVersion, magic, type TraceRecord } from './schema.ts'
import { unseal } from './seal.ts'
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

/**
 * The records of a trace, each decoded when it is asked for: the header, the steps, and the end or, in a torn trace,
 * where it is torn. Throws a `TraceError` for a file that is not a trace, and at a damaged record.
 */
export function* traceRecords(path: string): Generator<TraceRecord | { readonly torn: Tear }, void> {
  const file = readFile(path)
  let offset = afterFirstLine(path, file)
  let afterStep = -1
  for (let expected = 'header'; expected !== 'nothing'; ) {
    const unsealed = offset === file.length ? 'torn' : unseal(file, offset)
    if (unsealed === 'torn') return yield { torn: { byte: offset, afterStep } }
    const record = unsealed === 'damaged' ? undefined : tryDecode(unsealed.payload)
    if (unsealed === 'damaged' || !record || (expected === 'header') !== 'header' in record) {
      throw damagedError(path, offset, afterStep)
    }
    if ('step' in record) {
      if (record.step.index !== afterStep + 1) throw missingError(path, afterStep + 1)
      afterStep += 1
    }
    if ('end' in record && afterStep < 0) throw missingError(path, 0)
    yield record
    expected = 'end' in record ? 'nothing' : 'step'
    offset = unsealed.end
  }
  if (offset !== file.length) throw damagedError(path, offset, afterStep)
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

/** Offset of the first record. */
const afterFirstLine = (path: string, file: Buffer): number => {
  const start = file.toString('latin1', 0, magic.length + 11)
  const version = new RegExp(`^${magic}(\\d+)\\n`).exec(start)
  if (version) {
    if (Number(version[1]) <= formatVersion) return version[0].length
    throw new TraceError(
      'newer',
      `${path} is a trace of format ${version[1]}, written by a newer lastnail; this one reads up to format ${formatVersion}`,
    )
  }
  if (file.length > 0 && `${magic}${formatVersion}\n`.startsWith(start))
    throw tornError(path, { byte: 0, afterStep: -1 })
  const found = file.length === 0 ? 'is empty' : `begins with ${JSON.stringify(start)}`
  throw new TraceError('foreign', `${path} is not a trace: expected it to begin with "${magic}", but it ${found}`)
}

const tryDecode = (payload: Uint8Array): TraceRecord | undefined => {
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
