import { isIPv4 } from 'node:net'
import { parseAddress } from '../linux/address.ts'
import type { Message } from './message.ts'

/** From here on, a node's kernel draws source ports at random (RFC 6335, 6). They must never appear in labels. */
const ephemeralFrom = 49_152

export const isEphemeral = (port: number): boolean => port >= ephemeralFrom

/** The label of a message, including the dissector's label. */
export type LabelOf = (message: Omit<Message, 'label'>, meaning: string | undefined) => string

/**
 * `n1→n2 #3 vote term=2 for=n1`
 *
 * @param nameAt of the host that has an address: it is shown in its place
 */
export const messageLabels = (nameAt: (address: number) => string | undefined): LabelOf => {
  const named6 = (text: string) =>
    text.includes(ipv6Beginning)
      ? text.replaceAll(
          address6Pattern,
          (_, high: string, low: string) =>
            nameAt(Number.parseInt(high, 16) * 0x10000 + Number.parseInt(low, 16)) ?? '<address>',
        )
      : text
  const named = (text: string) =>
    // Most texts contain no address, and searching for the pattern would be the most expensive part of a label.
    text.includes('.')
      ? text.replaceAll(addressPattern, (whole, address: string) =>
          isIPv4(address) ? (nameAt(parseAddress(address)) ?? '<address>') : whole,
        )
      : text
  return (message, meaning) =>
    `${message.from}→${message.to} #${message.ordinal} ${named6(named(meaning ?? plainMeaning(message)))}`
}

/**
 * An address with its port, which may be random. A text that was cut off is left out, since the address may be
 * incomplete.
 */
const addressPattern = /(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?![\d.…]|:\d)/g

/** What the IPv6 addresses of hosts begin with. */
const ipv6Beginning = 'fd77::'
/** Such an address, in brackets with its port, or alone. */
const address6Pattern = /\[?fd77::([\da-f]{1,4}):([\da-f]{1,4})(?:\](?::\d+)?)?(?![\da-f:…])/g

/** `24 bytes :7000 "GET /state HTTP/1.1"`, `open :7000`, `exceeded :33434 to b at hop 2` */
const plainMeaning = ({ kind, bytes, port, end }: Omit<Message, 'label'>) => {
  const size = `${bytes.length} byte${bytes.length === 1 ? '' : 's'}`
  const isEcho = kind === 'echo' || kind === 'echo-reply'
  const what = kind === 'data' || kind === 'datagram' ? size : isEcho ? `${kind} ${size}` : kind
  const where = end ? [`to ${end.towards} at hop ${end.hop}`] : []
  return [what, ...(port === 0 ? [] : [`:${port}`]), ...where, ...preview(bytes)].join(' ')
}

const previewLengthMax = 32

/** The first line, if the payload is text. */
const preview = (bytes: Buffer): string[] => {
  const [line] = bytes.toString('latin1', 0, 200).split(/[\r\n]/, 1)
  if (!line || !/^[\x20-\x7e]+$/.test(line)) return []
  return [line.length > previewLengthMax ? `"${line.slice(0, previewLengthMax - 1)}…"` : `"${line}"`]
}
