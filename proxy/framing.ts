import type { Frame, StreamReader } from './dissector.ts'
import type { LabelOf } from './label.ts'
import type { Message } from './message.ts'
import { joinedLabel } from './short-label.ts'

/** Bytes or an event. `lost`: the host went down without its peer seeing it. */
export type StreamItem = Buffer | 'accept' | 'refuse' | 'close' | 'abort' | 'lost'

/** A message without its label. */
export interface Pending {
  readonly kind: Message['kind']
  readonly bytes: Buffer
  /** The dissector's label. */
  readonly meaning?: string
  /** All frames, if there is more than one. */
  readonly frames?: readonly Frame[]
}

/** Where a message is divided: after this many frames or bytes. Bytes may end within a frame. */
export interface Division {
  readonly after: number
  readonly of: 'frames' | 'bytes'
}

/**
 * Cuts what one end of a connection sends into messages: one for each step, with a limit on the length. With a dissector
 * it holds whole frames, and its label is theirs.
 */
export class Framing {
  #reader: StreamReader | undefined
  readonly #bytesMax: number
  readonly #keepRead: (bytes: Buffer) => void

  /**
   * @param bytesMax limit for a message; a frame that is longer is one by itself
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

  /** Divides the bytes and events of one step into messages, in order. */
  cut(carried: readonly StreamItem[]): Pending[] {
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

  /** Reads with this reader from now on. */
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
    return together(this.#reader.push(bytes), this.#bytesMax).map(pendingOf)
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

/** Frames in groups of a number of bytes at most. */
const together = (frames: readonly Frame[], bytesMax: number): Frame[][] => {
  const groups: Frame[][] = []
  let bytes = 0
  for (const frame of frames) {
    bytes += frame.bytes.length
    if (groups.length > 0 && bytes <= bytesMax) {
      groups.at(-1)!.push(frame)
      continue
    }
    groups.push([frame])
    bytes = frame.bytes.length
  }
  return groups
}

/** A part of a message, by its frames. */
export const framePart = (
  message: Message,
  [from, to]: readonly [from: number, to?: number],
  labelOf: LabelOf,
): Message => {
  const { frames = [], label: _, ...whole } = message
  const { bytes, meaning, frames: own } = pendingOf(frames.slice(from, to))
  const part = { ...whole, bytes, ordinal: whole.ordinal + from }
  return { label: labelOf(part, meaning), ...part, ...(own && { frames: own }) }
}

/** A part of a message, by its bytes. The first part says what all of it means. */
export const bytePart = (
  message: Message,
  [from, to]: readonly [from: number, to?: number],
  labelOf: LabelOf,
): Message => {
  const { frames: _, label, ...whole } = message
  const part = { ...whole, bytes: message.bytes.subarray(from, to) }
  const meaning = meaningOf(label)
  return { label: labelOf(part, from === 0 || meaning.startsWith(restOf) ? meaning : restOf + meaning), ...part }
}

const restOf = 'rest of '

/** What a label says after its ordinal. */
const meaningOf = (label: string): string => label.slice(label.indexOf(' ', label.indexOf(' #') + 1) + 1)

/** What was written together is one message. */
const pendingOf = (frames: readonly Frame[]): Pending => {
  const [first] = frames
  if (frames.length === 1) return { kind: 'data', bytes: first!.bytes, meaning: first!.label }
  const bytes = Buffer.concat(frames.map(frame => frame.bytes))
  return { kind: 'data', bytes, meaning: joinedLabel(frames.map(({ label }) => label)), frames }
}

const noBytes = Buffer.alloc(0)
