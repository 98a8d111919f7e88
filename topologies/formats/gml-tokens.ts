import { TopologyError } from '../error.ts'

/** `KEY VALUE` in GML. A value in brackets is a list of entries. */
export interface GmlEntry {
  readonly key: string
  readonly value: string | number | readonly GmlEntry[]
  /** Of the key, counted from 1. */
  readonly line: number
}

/**
 * The entries of a GML file (Himsolt, "GML: A portable Graph File Format", 1997). Throws a `TopologyError` with the
 * line if it is not GML or ends too early.
 */
export const parseGml = (text: string): GmlEntry[] => {
  const tokens = tokensOf(text)
  const [entries, end] = entriesFrom(tokens, 0, undefined, 0)
  const rest = tokens[end]
  if (rest) throw wrong(rest, 'the name of a field')
  return entries
}

type Token = { readonly line: number } & (
  | { readonly kind: 'key' | 'string' | '[' | ']' | 'python'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string; readonly value: number }
)

const tokenPattern =
  /\s+|#[^\n]*|(?<python>[,(){}:]|'[^'\n]*')|(?<open>\[)|(?<close>\])|"(?<string>[^"]*)"|(?<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<key>[A-Za-z_]\w*)/y

/**
 * Limit on nested lists. Graphs need three levels, and deeper ones would overflow the stack of this recursive parser.
 */
const depthMax = 100

const tokensOf = (text: string): Token[] => {
  const tokens: Token[] = []
  let line = 1
  for (let at = 0; at < text.length; ) {
    tokenPattern.lastIndex = at
    const match = tokenPattern.exec(text)
    if (!match) throw new TopologyError(`line ${line}: expected GML, found ${JSON.stringify(text.slice(at, at + 20))}`)
    const { python, open, close, string, number, key } = match.groups!
    if (open ?? close) tokens.push({ kind: open ? '[' : ']', text: match[0], line })
    else if (string !== undefined) tokens.push({ kind: 'string', text: unquoted(string), line })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, value: Number(number), line })
    else if (python !== undefined) tokens.push({ kind: 'python', text: python, line })
    else if (key !== undefined) tokens.push({ kind: 'key', text: key, line })
    line += match[0].split('\n').length - 1
    at = tokenPattern.lastIndex
  }
  return tokens
}

/** Entries up to the bracket that closes `opening`, or the end of the file; and the index after them. */
const entriesFrom = (
  tokens: readonly Token[],
  start: number,
  opening: Token | undefined,
  depth: number,
): [GmlEntry[], number] => {
  if (depth > depthMax)
    throw new TopologyError(`line ${opening!.line}: expected at most ${depthMax} brackets in each other`)
  const entries: GmlEntry[] = []
  let at = start
  for (let key = tokens[at]; key !== undefined; key = tokens[at]) {
    if (key.kind === ']' && opening) return [entries, at + 1]
    if (key.kind !== 'key') throw wrong(key, 'the name of a field')
    const value = tokens[at + 1]
    if (value === undefined) throw new TopologyError(`line ${key.line}: the file ends before the value of ${key.text}`)
    const afterPython = endOfPython(tokens, at + 1)
    if (afterPython !== undefined) {
      at = afterPython
      continue
    }
    if (value.kind === '[') {
      const [inner, end] = entriesFrom(tokens, at + 2, value, depth + 1)
      entries.push({ key: key.text, value: inner, line: key.line })
      at = end
      continue
    }
    const found = simpleValue(value, key)
    if (found !== undefined) entries.push({ key: key.text, value: found, line: key.line })
    at += 2
  }
  if (opening) throw new TopologyError(`line ${opening.line}: the file ends before this bracket is closed`)
  return [entries, at]
}

/** A bare word on the line of its field is one of Python's constants, as networkx 1 wrote them; `None` is no value. */
const simpleValue = (value: Token, key: Token): string | number | undefined => {
  if (value.kind === 'number') return value.value
  if (value.kind === 'string') return value.text
  if (value.kind === 'key' && value.line === key.line && value.text in constants) return constants[value.text]
  throw wrong(value, `a value of ${key.text}`)
}

const constants: Readonly<Record<string, number | undefined>> = { True: 1, False: 0, None: undefined }

/**
 * The index after a list, tuple or dictionary in Python's notation, as networkx 1 wrote them, such as `[1, 2]`; they are no
 * attributes of ours. `undefined` where there is none.
 */
const endOfPython = (tokens: readonly Token[], start: number): number | undefined => {
  const [first, second] = tokens.slice(start, start + 2)
  const isOnLine = first!.text === '[' && second?.line === first!.line
  const isList = isOnLine && second!.kind !== 'key' && second!.text !== ']'
  if (!(isList || (first!.kind === 'python' && '({'.includes(first!.text)))) return undefined
  let depth = 0
  for (let at = start; at < tokens.length; at++) {
    const { kind, text } = tokens[at]!
    if (kind === 'string') continue
    if ('[({'.includes(text)) depth++
    else if ('])}'.includes(text) && --depth === 0) return at + 1
  }
  throw new TopologyError(`line ${first!.line}: the file ends before this bracket is closed`)
}

const wrong = ({ line, text }: Token, what: string) =>
  new TopologyError(`line ${line}: expected ${what}, found ${JSON.stringify(text)}`)

const unquoted = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
