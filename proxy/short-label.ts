import { isUtf8 } from 'node:buffer'

/** Limit on a label's characters. Longer labels would break the columns of a schedule. */
const labelLengthMax = 60

/**
 * A text as a label: one short, printable line, without what differs between two executions of one schedule though
 * nothing else does (ports of this machine), or says nothing about the message (dates). The network replaces addresses
 * by names.
 */
export const shortLabel = (text: string): string => {
  const line = text
    .slice(0, 4 * labelLengthMax)
    .replace(date, '<date>')
    .replace(ownPort, '<address>')
    .replace(/\s+/g, ' ')
    .replace(/\p{C}/gu, '·')
    .trim()
  const characters = [...line]
  return characters.length <= labelLengthMax ? line : `${characters.slice(0, labelLengthMax - 1).join('')}…`
}

const isoDate = String.raw`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?`
const httpDate = String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT`
const date = new RegExp(`\\b(?:${isoDate}|${httpDate})`, 'g')
const ownPort = /\b(?:127(?:\.\d{1,3}){3}(?::\d+)?|localhost:\d+)\b/g

/**
 * The label of several messages that were written together: `SET x 1 | GET x | +43`, with how many are left out. Labels of
 * different beginnings of one list differ.
 */
export const joinedLabel = (labels: readonly string[]): string => {
  let joined = labels[0]!
  let shown = 1
  while (shown < labels.length && [...joined].length + 3 + [...labels[shown]!].length <= labelLengthMax) {
    joined += ` | ${labels[shown]!}`
    shown += 1
  }
  return shown === labels.length ? joined : `${joined} | +${labels.length - shown}`
}

/** Label for bytes of unknown meaning. */
export const lengthLabel = (bytes: Uint8Array): string => `${bytes.length} ${bytes.length === 1 ? 'byte' : 'bytes'}`

/** Label for bytes that may be text. */
export const textLabel = (bytes: Buffer): string => {
  const label = isUtf8(bytes) && !bytes.includes(0) ? shortLabel(bytes.toString('utf8', 0, 16 * labelLengthMax)) : ''
  return label === '' ? lengthLabel(bytes) : label
}

/** The label by the user's function, or the default label if that returns nothing or throws. */
export const labelBy = <Message>(
  label: ((message: Message) => string) | undefined,
  message: Message,
  byDefault: () => string,
): string => {
  try {
    return (label && shortLabel(label(message))) || byDefault()
  } catch {
    return byDefault()
  }
}

/** Fields that tell the kind of a message. */
const kindFields = ['type', 'kind', 'method', 'op', 'cmd', 'command', 'event', 'action']

/** A structured value as a label: `vote term=2 entries=[3]`. */
export const describeValue = (value: unknown): string => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return labelOrQuotes(describeField(value))
  const entries = Object.entries(value)
  const kind = entries.find(([key, field]) => kindFields.includes(key) && typeof field === 'string')
  const others = entries.filter(entry => entry !== kind).map(([key, field]) => `${key}=${describeField(field)}`)
  const words = kind ? [kind[1], ...others] : others
  return words.length === 0 ? '{}' : labelOrQuotes(words.join(' '))
}

const labelOrQuotes = (text: string): string => shortLabel(text) || '""'

/** A value in a few words, with the items of a list: `[0, 7, put, …]`. */
export const describeItems = (value: unknown): string => {
  if (!Array.isArray(value)) return describeValue(value)
  const items = value.slice(0, itemsMax).map(describeField)
  return shortLabel(`[${[...items, ...(value.length > itemsMax ? ['…'] : [])].join(', ')}]`)
}

/** Items of a list that a label shows at most. */
const itemsMax = 8

const describeField = (value: unknown): string => {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return `[${lengthOf(value)}]`
  if (typeof value === 'object' && value !== null) return '{…}'
  return String(value)
}

const lengthOf = (list: readonly unknown[] | ArrayBufferView) => ('length' in list ? list.length : list.byteLength)
