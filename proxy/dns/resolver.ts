/**
 * A DNS server (RFC 1035) that knows the names of hosts. Programs that ask for IPv6 addresses alone, or do not read /etc/hosts, find
 * the hosts by it.
 */

/** Its address. No node has it. */
export const resolverAddress = '10.77.255.253'
export const resolverPort = 53

const header = 12
const recursive = { desired: 0x0100, available: 0x0080 } as const
const answered = 0x8400 // an answer, by an authority
const refused = 5
const internet = 1
const [A, AAAA] = [1, 28]
/** Seconds for which an answer may be remembered. */
const lastsFor = { always: 30, ifItMayChange: 5 } as const
/** In place of the name in an answer: that of the question. */
const sameName = 0xc000 | header

/** What is known of a name: its addresses by kind, four bytes and sixteen, and whether they may become others. */
export interface HostOfName {
  readonly A: Buffer
  readonly AAAA: Buffer
  readonly mayChange: boolean
}

/**
 * Answers a query. A host has all that is asked for or nothing; names that it does not know are refused, since nobody says that
 * they do not exist.
 *
 * @param hostOf a name in small letters
 *
 * @returns undefined if it is no query of one question
 */
export const answerQuery = (query: Buffer, hostOf: (name: string) => HostOfName | undefined): Buffer | undefined => {
  if (query.length < header || query[2]! & 0x80 || query.readUInt16BE(4) !== 1) return undefined
  const question = readQuestion(query)
  if (question === undefined) return undefined
  const host = hostOf(question.name)
  const asks = question.type === A || question.type === AAAA
  const records = host && asks && question.class === internet ? [recordOf(question.type, host)] : []
  const start = Buffer.from(query.subarray(0, header))
  const flags = answered | recursive.available | (start.readUInt16BE(2) & recursive.desired)
  start.writeUInt16BE(flags | (host === undefined ? refused : 0), 2)
  start.writeUInt16BE(records.length, 6)
  start.writeUInt32BE(0, 8)
  return Buffer.concat([start, query.subarray(header, question.end), ...records])
}

const readQuestion = (query: Buffer) => {
  const labels: string[] = []
  let at = header
  for (; at < query.length && query[at] !== 0; at += 1 + query[at]!) {
    if (query[at]! > 63) return undefined
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!).toLowerCase())
  }
  const end = at + 5
  if (end > query.length) return undefined
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), class: query.readUInt16BE(at + 3), end }
}

const recordOf = (type: number, host: HostOfName): Buffer => {
  const address = host[type === A ? 'A' : 'AAAA']
  const record = Buffer.alloc(12)
  record.writeUInt16BE(sameName, 0)
  record.writeUInt16BE(type, 2)
  record.writeUInt16BE(internet, 4)
  record.writeUInt32BE(host.mayChange ? lastsFor.ifItMayChange : lastsFor.always, 6)
  record.writeUInt16BE(address.length, 10)
  return Buffer.concat([record, address])
}
