import { Unpackr } from 'msgpackr'
import type { Dissector } from '../dissector.ts'
import { describeItems, labelBy, lengthLabel } from '../short-label.ts'
import { type LengthPrefix, LengthPrefixedReader } from './length-prefixed.ts'
import { type Cut, datagramLabel, FrameReader } from './reader.ts'

export interface MsgpackMessages {
  /** The length before each message; without it, messages follow one another directly. */
  readonly prefix?: LengthPrefix
  // biome-ignore lint/suspicious/noExplicitAny: only the service knows its messages' shape
  readonly label?: (message: any) => string
}

/**
 * MessagePack: maps are labelled as JSON is, `vote term=2`; lists, as its RPC has them, item by item. A datagram is one or
 * more messages, without a length before them. https://github.com/msgpack/msgpack/blob/master/spec.md
 */
export const msgpack = ({ prefix, label }: MsgpackMessages = {}): Dissector => {
  const labelOf = (payload: Buffer): string => {
    const read = readFirst(payload)
    return typeof read === 'object' && 'value' in read && read.end === payload.length
      ? labelOfValue(read.value, label)
      : lengthLabel(payload)
  }
  return {
    name: 'MessagePack',
    stream: () => (prefix ? new LengthPrefixedReader(prefix, labelOf) : new ValueReader(label)),
    datagram: payload => datagramLabel(new ValueReader(label), payload),
  }
}

type UserLabel = MsgpackMessages['label']

const labelOfValue = (value: unknown, label: UserLabel): string => labelBy(label, value, () => describeItems(value))

class ValueReader extends FrameReader {
  readonly #label: UserLabel

  constructor(label: UserLabel) {
    super()
    this.#label = label
  }

  protected override alike(): ValueReader {
    return new ValueReader(this.#label)
  }

  protected override cut(held: Buffer): Cut {
    const read = readFirst(held)
    if (read === 'incomplete') return held.length > messageBytesMax ? 'malformed' : { atLeast: held.length + 1 }
    return read === 'malformed' ? read : { length: read.end, label: labelOfValue(read.value, this.#label) }
  }
}

const neverUsed = 0xc1
const messageBytesMax = 2 ** 26

// msgpackr's records are not MessagePack. Map keys may be other than strings.
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' })

/** The first value of some bytes, and where it ends. */
const readFirst = (bytes: Buffer): { readonly value: unknown; readonly end: number } | 'incomplete' | 'malformed' => {
  // The library itself uses the one byte that the format never uses.
  if (bytes[0] === neverUsed) return 'malformed'
  let first: { value: unknown; end: number } | undefined
  try {
    unpackr.unpackMultiple(bytes, (value: unknown, _start?: number, end?: number) => {
      first = { value, end: end! }
      return false
    })
  } catch (error) {
    if (first === undefined) return (error as { incomplete?: boolean }).incomplete ? 'incomplete' : 'malformed'
  }
  return first ?? 'incomplete'
}
