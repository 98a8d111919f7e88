import type protobufjs from 'protobufjs'
import type { Dissector } from '../dissector.ts'
import { describeValue, labelBy, lengthLabel, shortLabel } from '../short-label.ts'
import { type LengthPrefix, LengthPrefixedReader } from './length-prefixed.ts'
import { protoNameOf, readProto } from './proto.ts'

export interface ProtobufMessages {
  /** Path of a `.proto` file, or its text. */
  readonly proto: string
  /** The type of all messages, with its package: `raft.Message`. */
  readonly message: string
  /** The length before each message in a stream; by default as protobuf libraries write delimited messages. */
  readonly prefix?: LengthPrefix
  // biome-ignore lint/suspicious/noExplicitAny: the .proto says the shape, and TypeScript does not read it
  readonly label?: (message: any) => string
}

/**
 * Protobuf messages. A datagram is one message without a prefix. Throws at once if the `.proto` cannot be read or lacks
 * the type.
 */
export const protobuf = ({ proto, message, prefix = { bytes: 'varint' }, label }: ProtobufMessages): Dissector => {
  const type = lookup(proto, message)
  const labelOf = (payload: Buffer): string => {
    const decoded = tryDecode(type, payload)
    if (decoded === undefined) return lengthLabel(payload)
    return labelBy(label, decoded, () => shortLabel(`${type.name} ${describeValue(decoded)}`))
  }
  return { name: 'protobuf', stream: () => new LengthPrefixedReader(prefix, labelOf), datagram: labelOf }
}

const lookup = (proto: string, message: string): protobufjs.Type => {
  const root = readProto(proto)
  try {
    return root.lookupType(message)
  } catch (cause) {
    throw new Error(`expected ${protoNameOf(proto)} to have the message type "${message}", and it has not`, { cause })
  }
}

const tryDecode = (type: protobufjs.Type, payload: Buffer): Record<string, unknown> | undefined => {
  try {
    return type.toObject(type.decode(payload), { longs: String, enums: String, bytes: Array })
  } catch {
    return undefined
  }
}
