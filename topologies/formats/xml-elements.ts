import { createRequire } from 'node:module'
import { TopologyError } from '../error.ts'

const require = createRequire(import.meta.url)
/** Loaded only for a file in XML. */
const saxes = (): typeof import('saxes') => require('saxes')

/** A parser that throws a `TopologyError` with the line where a file is no XML. */
export const xmlParser = () => {
  const parser = new (saxes().SaxesParser)()
  parser.on('error', ({ message }) => {
    throw new TopologyError(message.replace(/^(\d+):\d+: /, 'line $1: '))
  })
  return parser
}

/** An element of XML, with the line where it begins. */
export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** Without that of elements in it. */
  readonly text: string
  readonly line: number
}

/** The root of an XML file. Throws a `TopologyError` with the line if it is no XML. */
export const parseXml = (text: string): XmlElement => {
  type Open = XmlElement & { readonly children: XmlElement[]; text: string }
  const top: Open = { name: '', attributes: {}, children: [], text: '', line: 0 }
  const open = [top]
  const parser = xmlParser()
  parser.on('opentag', ({ name, attributes }) => {
    const element: Open = { name, attributes, children: [], text: '', line: parser.line }
    open.at(-1)!.children.push(element)
    open.push(element)
  })
  parser.on('text', more => {
    open.at(-1)!.text += more
  })
  parser.on('closetag', () => void open.pop())
  parser.write(text).close()
  return top.children[0]!
}

/** All elements of a name, at any depth, in the order of the file. */
export const elementsNamed = (root: XmlElement, name: string): XmlElement[] =>
  root.children.flatMap(child => [...(child.name === name ? [child] : []), ...elementsNamed(child, name)])

/** The text of the first element of a name below; `undefined` where there is none, or it is empty. */
export const elementText = (root: XmlElement, name: string): string | undefined =>
  elementsNamed(root, name)[0]?.text.trim() || undefined

/** A number of an attribute or a text. Throws a `TopologyError` with the line if it is none, or less than `least`. */
export const numberAt = ({ line, name }: XmlElement, what: string, found: string | undefined, least = 0): number => {
  const value = Number(found)
  if (found === undefined || found.trim() === '' || !Number.isFinite(value) || value < least)
    throw new TopologyError(`line ${line}: expected <${name}> with ${what}, found ${found ?? 'none'}`)
  return value
}
