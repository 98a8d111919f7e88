import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import { encodeRecord, formatVersion, magic, type StoredRecord, type TraceRecord } from './schema.ts'
import { seal } from './seal.ts'
import type { RecordedMessage, RecordedStep, TraceEnd, TraceHeader } from './trace.ts'

/** Readable by the user alone: a trace holds everything that nodes sent and printed, perhaps secrets. */
const ownMode = 0o600

/** So many bytes of records are compressed together. With fewer the file would be larger; short traces are not compressed. */
const blockBytes = 1 << 18
/** A ninth is left of the steps of 25 nodes; with the highest level not much less, for several times the CPU time. */
const compression = { level: 3 } as const

export interface TraceWriterOptions {
  /** A larger payload is cut to this many bytes, and its full length is stored; 64 KiB by default. */
  readonly messageBytesMax?: number
}

/**
 * Writes the trace of one execution while it happens. Each call hands its record to the kernel before it returns, so a
 * crash of the tool loses at most the record being written.
 */
export class TraceWriter {
  readonly #file: number
  readonly #messageBytesMax: number
  #nextIndex = 0
  /** Where the records begin that are not compressed yet, but for the header. */
  #plainFrom = 0
  #plain: Buffer[] = []
  #plainBytes = 0

  /** Creates or truncates the file. @throws the file system's error if that fails */
  constructor(path: string, header: TraceHeader, { messageBytesMax = 65_536 }: TraceWriterOptions = {}) {
    this.#messageBytesMax = messageBytesMax
    this.#file = openSync(path, 'w', ownMode)
    const first = Buffer.concat([Buffer.from(`${magic}${formatVersion}\n`), sealed({ header })])
    this.#write(first, 0)
    this.#plainFrom = first.length
  }

  /** Steps must come in order, beginning with the start of the system. */
  step(step: RecordedStep): void {
    if (step.index !== this.#nextIndex) {
      throw new RangeError(`expected step ${this.#nextIndex} of the trace, found step ${step.index}`)
    }
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
    const block = sealed({ block: deflateRawSync(Buffer.concat(this.#plain), compression) })
    const isSmaller = block.length < this.#plainBytes
    if (isSmaller) {
      this.#write(block, this.#plainFrom)
      ftruncateSync(this.#file, this.#plainFrom + block.length)
    }
    this.#plainFrom += isSmaller ? block.length : this.#plainBytes
    this.#plain = []
    this.#plainBytes = 0
  }

  #write(bytes: Buffer, position: number): void {
    for (let written = 0; written < bytes.length; )
      written += writeSync(this.#file, bytes, written, bytes.length - written, position + written)
  }

  #limit(message: RecordedMessage): RecordedMessage {
    return { ...message, bytes: message.bytes.subarray(0, this.#messageBytesMax) }
  }
}

const sealed = (record: StoredRecord): Buffer => seal(encodeRecord(record))
