const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** An element of XML; content is XML already. */
export const element = (
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: string | readonly string[] = '',
): string => {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
  const inner = [content].flat().join('\n')
  return inner === '' ? `<${name}${pairs.join('')}/>` : `<${name}${pairs.join('')}>${inner}</${name}>`
}

/** Text that may stand in XML; characters that XML cannot hold are left out. */
export const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, character => entities[character]!).replace(forbidden, '')

/** XML 1.0 has no control characters but tab and line ends, and no halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu
