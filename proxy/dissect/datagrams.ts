import type { Dissector, StreamReader } from '../dissector.ts'
import { describeValue, labelBy, lengthLabel, textLabel } from '../short-label.ts'
import { type MessageFields, readFields, requireFields } from './fields.ts'

export interface DatagramMessages {
  /** The fields of a datagram. */
  readonly fields?: MessageFields
  /** Byte order of numbers; `big` by default. */
  readonly endian?: 'big' | 'little'
  /** Receives the message by its fields, or the bytes if there are none. */
  // biome-ignore lint/suspicious/noExplicitAny: the fields say the shape
  readonly label?: (message: any) => string
}

/** Labels for a service that uses only datagrams. Bytes of connections are passed on as they come. */
export const datagrams = (given: DatagramMessages | ((payload: Buffer) => string)): Dissector => {
  const { fields, endian = 'big', label } = typeof given === 'function' ? { label: given } : given
  if (fields) requireFields(fields)
  return {
    name: 'datagrams',
    stream: () => new AsItComes(),
    datagram: payload => labelOfFields(payload, { fields, endian, label }),
  }
}

/** The label of a message by its fields. A message that does not fit them, or none are given, is labelled as text. */
export const labelOfFields = (
  payload: Buffer,
  {
    fields,
    endian,
    label,
  }: {
    readonly fields: MessageFields | undefined
    readonly endian: 'big' | 'little'
    readonly label: DatagramMessages['label']
  },
): string => {
  if (fields === undefined) return labelBy(label, payload, () => textLabel(payload))
  const message = readFields(payload, fields, endian)
  return message === undefined ? lengthLabel(payload) : labelBy(label, message, () => describeValue(message))
}

class AsItComes implements StreamReader {
  push(chunk: Buffer) {
    return chunk.length === 0 ? [] : [{ bytes: chunk, label: textLabel(chunk) }]
  }

  rest(): Buffer {
    return Buffer.alloc(0)
  }

  copy(): AsItComes {
    return this
  }
}
