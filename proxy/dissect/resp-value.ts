/** A RESP value as far as a label needs it: a map is a list of its keys and values, a set is a list. */
export type RespValue = string | number | boolean | null | { readonly error: string } | readonly RespValue[]

/** A value and where it ends; or how many bytes are needed at least before parsing again can succeed. */
export type Parsed = { readonly value: RespValue; readonly end: number } | { readonly atLeast: number } | 'malformed'

const lineBytesMax = 65_536
const bulkBytesMax = 2 ** 29
const elementsMax = 2 ** 20
const depthMax = 32

/** The value at an offset. */
export const parseResp = (bytes: Buffer, offset = 0, depth = 0): Parsed => {
  if (offset >= bytes.length) return { atLeast: offset + 1 }
  const type = String.fromCharCode(bytes[offset]!)
  if (depth > depthMax || !types.includes(type)) return 'malformed'
  const lineEnd = bytes.subarray(offset, offset + lineBytesMax).indexOf('\r\n') + offset
  if (lineEnd < offset) return bytes.length - offset < lineBytesMax ? { atLeast: bytes.length + 1 } : 'malformed'
  const line = bytes.toString('utf8', offset + 1, lineEnd)
  const next = lineEnd + 2
  if (bulks.includes(type)) return parseBulk(bytes, next, line, type)
  if (type in elementsPerCount) return parseList(bytes, next, line, type, depth)
  const value = parseLine(type, line)
  return value === undefined ? 'malformed' : { value, end: next }
}

const simples = '+-:_#,('
/** Bulk string, bulk error, verbatim string. */
const bulks = '$!='
/** Array, set, push, map, attribute. */
const elementsPerCount: Readonly<Record<string, number>> = { '*': 1, '~': 1, '>': 1, '%': 2, '|': 2 }
const types = [...simples, ...bulks, ...Object.keys(elementsPerCount)]

const parseLine = (type: string, line: string): RespValue | undefined => {
  switch (type) {
    case '+':
      return line
    case '-':
      return { error: line }
    case ':':
      return /^[+-]?\d+$/.test(line) ? Number(line) : undefined
    case '_':
      return line === '' ? null : undefined
    case '#':
      return line === 't' ? true : line === 'f' ? false : undefined
    case ',':
      return /^([+-]?(\d+(\.\d*)?([eE][+-]?\d+)?|inf)|nan)$/.test(line)
        ? Number(line.replace('inf', 'Infinity'))
        : undefined
    default:
      return /^[+-]?\d+$/.test(line) ? line : undefined
  }
}

/** The count before a bulk string or list; -1 is RESP2's nil. */
const parseCount = (line: string, max: number): number | undefined =>
  /^(-1|\d+)$/.test(line) && Number(line) <= max ? Number(line) : undefined

const parseBulk = (bytes: Buffer, start: number, line: string, type: string): Parsed => {
  const length = parseCount(line, bulkBytesMax)
  if (length === undefined) return 'malformed'
  if (length < 0) return { value: null, end: start }
  const end = start + length
  if (bytes.length < end + 2) return { atLeast: end + 2 }
  if (bytes.toString('latin1', end, end + 2) !== '\r\n') return 'malformed'
  const text = bytes.toString('utf8', start, end)
  return { value: type === '!' ? { error: text } : type === '=' ? text.slice(4) : text, end: end + 2 }
}

const parseList = (bytes: Buffer, start: number, line: string, type: string, depth: number): Parsed => {
  const count = parseCount(line, elementsMax)
  if (count === undefined) return 'malformed'
  if (count < 0) return { value: null, end: start }
  const value: RespValue[] = []
  let end = start
  for (let i = 0; i < count * elementsPerCount[type]!; i++) {
    const element = parseResp(bytes, end, depth + 1)
    if (element === 'malformed' || 'atLeast' in element) return element
    value.push(element.value)
    end = element.end
  }
  // An attribute comes before the value to which it belongs.
  return type === '|' ? parseResp(bytes, end, depth + 1) : { value, end }
}
