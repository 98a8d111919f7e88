import { closeSync, ftruncateSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import { NotWritten } from '../system/written.ts'
import { Outlines, type WholeBlock } from './outlines.ts'
import { encodeRecord, formatVersion, magic, type StoredRecord, type TraceRecord } from './schema.ts'
import { seal } from './seal.ts'
import type { RecordedMessage, RecordedStep, TraceEnd, TraceHeader } from './trace.ts'

/** Readable by the user alone: a trace holds everything that nodes sent and printed, perhaps secrets. */
const ownMode = 0o600

/**
 * Bytes of records that are compressed together. With fewer the file would be larger; short traces are not compressed.
 */
const blockBytes = 1 << 18
/** A ninth is left of the steps of 25 nodes; with the highest level not much less, for several times the CPU time. */
const compression = { level: 3 } as const

export interface TraceWriterOptions {
  /** A larger payload is cut to this many bytes, and its full length is stored; 64 KiB by default. */
  readonly messageBytesMax?: number
  /**
   * Steps of at least this time are kept as a whole, and of at most twice as long; of earlier ones an outline. By default
   * all are kept as a whole.
   */
  readonly keepMs?: number | undefined
}

/**
 * Writes the trace of one execution while it happens. Each call hands its record to the kernel before it returns, so a
 * crash of the tool loses at most the record being written.
 */
export class TraceWriter {
  readonly #path: string
  #file: number
  readonly #messageBytesMax: number
  readonly #outlines: Outlines | undefined
  /** Where the outlines end. */
  #outlinesEnd: number
  #nextIndex = 0
  /** Where the records begin that are not compressed yet, but for the header. */
  #plainFrom = 0
  #plain: Buffer[] = []
  #plainBytes = 0

  /** Creates or truncates the file. This and all other methods throw `NotWritten` where that is not possible. */
  constructor(path: string, header: TraceHeader, { messageBytesMax = 65_536, keepMs }: TraceWriterOptions = {}) {
    this.#path = path
    this.#messageBytesMax = messageBytesMax
    this.#outlines = keepMs === undefined ? undefined : new Outlines(keepMs, packing)
    this.#file = this.#orSay(() => openSync(path, 'w+', ownMode))
    const first = Buffer.concat([Buffer.from(`${magic}${formatVersion}\n`), sealed({ header })])
    this.#write(first, 0)
    this.#plainFrom = first.length
    this.#outlinesEnd = first.length
  }

  /** Steps must come in order, beginning with the start of the system. */
  step(step: RecordedStep): void {
    if (step.index !== this.#nextIndex) {
      throw new RangeError(`expected step ${this.#nextIndex} of the trace, found step ${step.index}`)
    }
    this.#outlines?.see(step)
    this.#append({ step: { ...step, messages: step.messages.map(message => this.#limit(message)) } })
    this.#nextIndex++
  }

  /** The last record. Without it, the trace counts as torn. */
  end(end: TraceEnd): void {
    this.#append({ end })
  }

  close(): void {
    closeSync(this.#file)
  }

  #append(record: TraceRecord): void {
    const bytes = sealed(record)
    this.#write(bytes, this.#plainFrom + this.#plainBytes)
    this.#plain.push(bytes)
    this.#plainBytes += bytes.length
    if (this.#plainBytes >= blockBytes) this.#compress()
  }

  /** Writes the block over the records that it holds: a reader ignores the rest of them, should the tool be killed in between. */
  #compress(): void {
    const block = packed(this.#plain)
    const isSmaller = block.length < this.#plainBytes
    const from = this.#plainFrom
    if (isSmaller) {
      this.#write(block, from)
      this.#orSay(() => ftruncateSync(this.#file, from + block.length))
    }
    this.#plainFrom += isSmaller ? block.length : this.#plainBytes
    this.#plain = []
    this.#plainBytes = 0
    this.#outlines?.endBlock(from, this.#plainFrom - from)
    this.#orSay(() => this.#outlineOld(this.#outlines?.takeOld() ?? []))
  }

  /** Writes the file anew, with outlines of its oldest steps. The new file takes the place of the old one at once. */
  #outlineOld(old: readonly WholeBlock[]): void {
    const last = old.at(-1)
    if (last === undefined) return
    const path = `${this.#path}.new`
    const file = openSync(path, 'w+', ownMode)
    const whole = [last.byte + last.length, this.#plainFrom] as const
    const outlines = Buffer.concat(old.map(({ outline }) => outline))
    const before = [this.#copy(0, this.#outlinesEnd), outlines, last.known]
    try {
      writeAll(file, Buffer.concat([...before, this.#copy(...whole)]), 0)
      renameSync(path, this.#path)
    } catch (error) {
      closeSync(file)
      rmSync(path, { force: true })
      throw error
    }
    closeSync(this.#file)
    this.#file = file
    this.#outlinesEnd += outlines.length
    const moved = this.#outlinesEnd + last.known.length - whole[0]
    this.#plainFrom += moved
    this.#outlines!.move(moved)
  }

  #copy(from: number, until: number): Buffer {
    const bytes = Buffer.alloc(until - from)
    for (let got = 0; got < bytes.length; ) got += readSync(this.#file, bytes, got, bytes.length - got, from + got)
    return bytes
  }

  #write(bytes: Buffer, position: number): void {
    this.#orSay(() => writeAll(this.#file, bytes, position))
  }

  #orSay<Result>(write: () => Result): Result {
    try {
      return write()
    } catch (cause) {
      throw new NotWritten('the trace', this.#path, cause)
    }
  }

  #limit(message: RecordedMessage): RecordedMessage {
    return { ...message, bytes: message.bytes.subarray(0, this.#messageBytesMax) }
  }
}

const writeAll = (file: number, bytes: Buffer, position: number): void => {
  for (let written = 0; written < bytes.length; )
    written += writeSync(file, bytes, written, bytes.length - written, position + written)
}

const sealed = (record: StoredRecord): Buffer => seal(encodeRecord(record))

/** Records as one compressed block. */
const packed = (records: readonly Buffer[]): Buffer =>
  sealed({ block: deflateRawSync(Buffer.concat(records), compression) })

const packing = {
  steps: (steps: readonly RecordedStep[]) => packed(steps.map(step => sealed({ step }))),
  known: (known: RecordedStep) => packed([sealed({ known })]),
}
