import type { Dissector, StreamReader } from '../dissector.ts'
import { type MessageFields, readFields, requireFields } from './fields.ts'
import { describe, labelBy, lengthLabel, textLabel } from './label.ts'

export interface DatagramMessages {
  /** What a datagram is made of. */
  readonly fields?: MessageFields
  /** How numbers stand in it; `big` by default. */
  readonly endian?: 'big' | 'little'
  /** Gets the message by its fields, or the bytes where none are given. */
  // biome-ignore lint/suspicious/noExplicitAny: the fields say the shape
  readonly label?: (message: any) => string
}

/** Labels of a service that speaks by datagrams alone. What a connection carries is given as it comes. */
export const datagrams = (given: DatagramMessages | ((payload: Buffer) => string)): Dissector => {
  const { fields, endian = 'big', label } = typeof given === 'function' ? { label: given } : given
  if (fields) requireFields(fields)
  return {
    name: 'datagrams',
    stream: () => new AsItComes(),
    datagram: payload => labelOfFields(payload, { fields, endian, label }),
  }
}

/** The label of a message by its fields; of one that has others, and of one without, as text. */
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
  return message === undefined ? lengthLabel(payload) : labelBy(label, message, () => describe(message))
}

class AsItComes implements StreamReader {
  push(chunk: Buffer) {
    return chunk.length === 0 ? [] : [{ bytes: chunk, label: textLabel(chunk) }]
  }

  rest(): Buffer {
    return Buffer.alloc(0)
  }
}
