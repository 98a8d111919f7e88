import type { Dissector } from '../dissector.ts'
import { describeValue, labelBy, lengthLabel, textLabel } from '../short-label.ts'
import { type Cut, FrameReader } from './reader.ts'

const lineBytesMax = 2 ** 20
const newline = 0x0a

/** Text with one message on each line. A line above 1 MiB or with a NUL is malformed. */
export const lines = (label?: (line: string) => string): Dissector =>
  lineDissector('lines', line => {
    return labelBy(label, line.toString(), () => (line.length === 0 ? 'empty line' : textLabel(line)))
  })

/** JSON values, one on each line, labelled by their type and plain fields, such as `vote term=2`. */
// biome-ignore lint/suspicious/noExplicitAny: only the service knows its messages' shape
export const jsonLines = (label?: (message: any) => string): Dissector =>
  lineDissector('JSON lines', line => {
    const message = tryParse(line)
    return message === undefined ? textLabel(line) : labelBy(label, message, () => describeValue(message))
  })

const lineDissector = (name: string, label: (line: Buffer) => string): Dissector => ({
  name,
  stream: () => new LineReader(label),
  datagram: payload => (payload.includes(0) ? lengthLabel(payload) : label(withoutEnd(payload))),
})

class LineReader extends FrameReader {
  readonly #label: (line: Buffer) => string

  constructor(label: (line: Buffer) => string) {
    super()
    this.#label = label
  }

  protected override alike(): LineReader {
    return new LineReader(this.#label)
  }

  protected override cut(held: Buffer): Cut {
    const end = held.indexOf(newline)
    const line = held.subarray(0, end < 0 ? held.length : end + 1)
    if (line.length > lineBytesMax || line.includes(0)) return 'malformed'
    return end < 0 ? { atLeast: held.length + 1 } : { length: line.length, label: this.#label(withoutEnd(line)) }
  }
}

const withoutEnd = (line: Buffer): Buffer => {
  let end = line.length
  if (line[end - 1] === newline) end--
  if (line[end - 1] === 0x0d) end--
  return line.subarray(0, end)
}

const tryParse = (line: Buffer): unknown => {
  try {
    return JSON.parse(line.toString())
  } catch {
    return undefined
  }
}
