import { closeSync, openSync, writeFileSync } from 'node:fs'
import { encodeRecord, formatVersion, magic, type TraceRecord } from './schema.ts'
import { seal } from './seal.ts'
import type { RecordedMessage, RecordedStep, TraceEnd, TraceHeader } from './trace.ts'

/** What nodes said, and were told, is their user's alone. */
const ownMode = 0o600

export interface TraceWriterOptions {
  /** Of a larger payload only so much is kept, with its length; 64 KiB by default. */
  readonly messageBytesMax?: number
}

/**
 * Writes the trace of one execution while it happens. A record is handed to the kernel before the call returns, so
 * that a crash of the tool loses nothing but the record being written.
 */
export class TraceWriter {
  readonly #file: number
  readonly #messageBytesMax: number
  #nextIndex = 0

  /** Creates the file, or empties it; throws the error of the file system where that is impossible. */
  constructor(path: string, header: TraceHeader, { messageBytesMax = 65_536 }: TraceWriterOptions = {}) {
    this.#messageBytesMax = messageBytesMax
    this.#file = openSync(path, 'w', ownMode)
    writeFileSync(this.#file, `${magic}${formatVersion}\n`)
    this.#append({ header })
  }

  /** Steps come in order, the start of the system first. */
  step(step: RecordedStep): void {
    if (step.index !== this.#nextIndex) {
      throw new RangeError(`expected step ${this.#nextIndex} of the trace, found step ${step.index}`)
    }
    this.#append({ step: { ...step, messages: step.messages.map(message => this.#limit(message)) } })
    this.#nextIndex++
  }

  /** The last record: without it the trace counts as torn. */
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
