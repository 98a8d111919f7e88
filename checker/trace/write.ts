import { closeSync, openSync, writeFileSync } from 'node:fs'
import { encodeRecord, formatVersion, magic, type TraceRecord } from './schema.ts'
import { seal } from './seal.ts'
import type { RecordedMessage, RecordedStep, TraceEnd, TraceHeader } from './trace.ts'

/** Readable by the user alone: a trace holds everything that nodes sent and printed, perhaps secrets. */
const ownMode = 0o600

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

  /** Creates or truncates the file. @throws the file system's error if that fails */
  constructor(path: string, header: TraceHeader, { messageBytesMax = 65_536 }: TraceWriterOptions = {}) {
    this.#messageBytesMax = messageBytesMax
    this.#file = openSync(path, 'w', ownMode)
    writeFileSync(this.#file, `${magic}${formatVersion}\n`)
    this.#append({ header })
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
    writeFileSync(this.#file, seal(encodeRecord(record)))
  }

  #limit(message: RecordedMessage): RecordedMessage {
    return { ...message, bytes: message.bytes.subarray(0, this.#messageBytesMax) }
  }
}
