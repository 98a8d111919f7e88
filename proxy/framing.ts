import type { Frame, StreamReader } from './dissector.ts'
import type { Message } from './message.ts'

/** Bytes or an event. `lost`: the host went down without its peer seeing it. */
export type Carried = Buffer | 'accept' | 'refuse' | 'close' | 'abort' | 'lost'

/** A message without its label. */
export interface Pending {
  readonly kind: Message['kind']
  readonly bytes: Buffer
  /** The dissector's label. */
  readonly meaning?: string
}

/**
 * Cuts what one end of a connection sends into messages: by the dissector's frames, or one for each step, with a limit
 * on the length.
 */
export class Framing {
  #reader: StreamReader | undefined
  readonly #bytesMax: number
  readonly #keepRead: (bytes: Buffer) => void

  /**
   * @param bytesMax limit for a message without a dissector
   *
   * @param keepRead is called with everything that the reader reads
   */
  constructor(reader: StreamReader | undefined, bytesMax: number, keepRead: (bytes: Buffer) => void) {
    this.#reader = reader
    this.#bytesMax = bytesMax
    this.#keepRead = keepRead
  }

  get hasReader(): boolean {
    return this.#reader !== undefined
  }

  /** The bytes of an incomplete frame. */
  rest(): Buffer {
    return this.#reader?.rest() ?? noBytes
  }

  /** What was sent in one step, in order, as messages. */
  cut(carried: readonly Carried[]): Pending[] {
    const pending: Pending[] = []
    let stream: Buffer[] = []
    const endStream = () => {
      if (stream.length > 0) pending.push(...this.#toMessages(Buffer.concat(stream)))
      stream = []
    }
    for (const item of carried) {
      if (typeof item !== 'string') {
        stream.push(item)
        continue
      }
      endStream()
      // Nothing follows these, so an incomplete frame will never be completed.
      if (item === 'close' || item === 'abort' || item === 'lost') pending.push(...this.#takeRest())
      if (item !== 'lost') pending.push({ kind: item, bytes: noBytes })
    }
    endStream()
    return pending
  }

  /** From now on, this one reads. */
  use(reader: StreamReader): void {
    this.#reader = reader
  }

  /** Reads again what an earlier reader has read. */
  resume(bytes: Buffer): void {
    this.#reader?.push(bytes)
    this.#keepRead(bytes)
  }

  /** From now on, bytes are not read by the dissector. */
  stop(): void {
    this.#reader = undefined
  }

  #toMessages(bytes: Buffer): Pending[] {
    if (this.#reader === undefined) return partsOf(bytes, this.#bytesMax).map(part => ({ kind: 'data', bytes: part }))
    this.#keepRead(bytes)
    return this.#reader.push(bytes).map(fromFrame)
  }

  /** An incomplete frame as a message of its own. */
  #takeRest(): Pending[] {
    const rest = this.rest()
    this.stop()
    return rest.length === 0 ? [] : [{ kind: 'data', bytes: Buffer.from(rest) }]
  }
}

const partsOf = (bytes: Buffer, bytesMax: number): Buffer[] =>
  Array.from({ length: Math.max(1, Math.ceil(bytes.length / bytesMax)) }, (_, index) =>
    bytes.subarray(index * Math.min(bytesMax, bytes.length), (index + 1) * bytesMax),
  )

const fromFrame = ({ bytes, label }: Frame): Pending => ({ kind: 'data', bytes, meaning: label })

const noBytes = Buffer.alloc(0)
