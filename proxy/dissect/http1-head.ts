/** The start line and headers of a request or response, and where its body begins. */
export type HttpHead = (RequestHead | ResponseHead) & {
  /** By name in lower case. Several values of a name are joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  /** Offset of the body. */
  readonly end: number
}

interface RequestHead {
  readonly kind: 'request'
  readonly method: string
  /** Path and query, or `*`; without host. */
  readonly target: string
}

interface ResponseHead {
  readonly kind: 'response'
  readonly status: number
  readonly reason: string
}

const headBytesMax = 65_536
const token = String.raw`[!#$%&'*+\-.^_\x60|~0-9A-Za-z]`
const requestLine = new RegExp(`^(${token}{1,32}) ([^\\s]+) HTTP/1\\.[01]$`)
const responseLine = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/
const headerLine = new RegExp(`^(${token}+):[ \\t]*(.*?)[ \\t]*$`)

/** The head at the beginning of some bytes (RFC 9112, 2 to 5). Leading empty lines belong to it. */
export const parseHead = (
  held: Buffer,
  kind: HttpHead['kind'],
): HttpHead | { readonly atLeast: number } | 'malformed' => {
  const text = held.toString('latin1', 0, headBytesMax)
  const start = /^(\r?\n)*\r?/.exec(text)![0].length
  const emptyLine = /\r?\n\r?\n/.exec(text.slice(start))
  if (!emptyLine) {
    return held.length < headBytesMax && mayBegin(text.slice(start), kind) ? { atLeast: held.length + 1 } : 'malformed'
  }
  const [startLine, ...lines] = text.slice(start, start + emptyLine.index).split(/\r?\n/)
  const parsed = kind === 'request' ? parseRequestLine(startLine!) : parseResponseLine(startLine!)
  const headers = parseHeaders(lines)
  const end = start + emptyLine.index + emptyLine[0].length
  return parsed && headers ? { ...parsed, headers, end } : 'malformed'
}

/** Whether the text can become a head. Anything else must not wait for a line end that never comes. */
const mayBegin = (text: string, kind: HttpHead['kind']): boolean => {
  const [line, ...more] = text.split(/\r?\n/)
  if (more.length > 0) return (kind === 'request' ? parseRequestLine(line!) : parseResponseLine(line!)) !== undefined
  if (kind === 'response') return 'HTTP/1.'.startsWith(line!.slice(0, 7))
  return new RegExp(`^${token}{0,32}(?: [^\\x00-\\x1f\\x7f]*\\r?)?$`).test(line!)
}

const parseRequestLine = (line: string): RequestHead | undefined => {
  const [, method, target] = requestLine.exec(line) ?? []
  if (method === undefined) return undefined
  return { kind: 'request', method, target: target!.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/' }
}

const parseResponseLine = (line: string): ResponseHead | undefined => {
  const [, status, reason] = responseLine.exec(line) ?? []
  return status === undefined ? undefined : { kind: 'response', status: Number(status), reason: reason ?? '' }
}

const parseHeaders = (lines: readonly string[]): Record<string, string> | undefined => {
  const headers: Record<string, string> = Object.create(null)
  let last = ''
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? []
    if (name !== undefined) {
      last = name.toLowerCase()
      headers[last] = last in headers ? `${headers[last]}, ${value}` : value!
    } else if (/^[ \t]/.test(line) && last !== '') {
      headers[last] = `${headers[last]} ${line.trim()}`
    } else {
      return undefined
    }
  }
  return headers
}
