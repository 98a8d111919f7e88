import type { Message } from './message.ts'

/** From here on a node's kernel draws its source ports, at random: they are never to be shown (RFC 6335, 6). */
const ephemeralFrom = 49_152

export const isEphemeral = (port: number): boolean => port >= ephemeralFrom

/**
 * `n1→n2 #3 vote term=2`
 *
 * @param meaning what a dissector made of it
 */
export const messageLabel = (message: Omit<Message, 'label'>, meaning: string | undefined): string =>
  `${message.from}→${message.to} #${message.ordinal} ${meaning ?? plainMeaning(message)}`

/** `24 bytes :7000 "GET /state HTTP/1.1"`, `open :7000` */
const plainMeaning = ({ kind, bytes, port }: Omit<Message, 'label'>) => {
  const what = kind === 'data' || kind === 'datagram' ? `${bytes.length} byte${bytes.length === 1 ? '' : 's'}` : kind
  return [what, ...(port === 0 ? [] : [`:${port}`]), ...preview(bytes)].join(' ')
}

const previewLengthMax = 32

/** The first line, where it is text. */
const preview = (bytes: Buffer): string[] => {
  const [line] = bytes.toString('latin1', 0, 200).split(/[\r\n]/, 1)
  if (!line || !/^[\x20-\x7e]+$/.test(line)) return []
  return [line.length > previewLengthMax ? `"${line.slice(0, previewLengthMax - 1)}…"` : `"${line}"`]
}
