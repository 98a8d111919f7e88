import type { Duplex } from 'node:stream'

/** What a command is answered with: a string, a number, nothing, or a list of these. */
export type Reply = string | number | null | Reply[]

/** Where a connection to a Redis server can be opened. */
export interface Server {
  tcp(port: number): Duplex
}

/** Sends one command over a connection of its own. Rejects with what the server says where that is an error. */
export const redis = async (server: Server, ...command: readonly string[]): Promise<Reply> => {
  const [reply] = await pipeline(server, [command])
  return reply!
}

/** Sends commands at once, over one connection, and gives their replies in order. Rejects like `redis`. */
export const pipeline = async (server: Server, commands: readonly (readonly string[])[]): Promise<Reply[]> => {
  const connection = server.tcp(6379)
  try {
    connection.write(commands.map(encode).join(''))
    let received = ''
    for await (const chunk of connection) {
      received += chunk.toString('latin1')
      const replies = parseList(received, 0, commands.length)
      if (replies) return replies.reply
    }
    throw new Error('the server closed the connection before its replies were whole')
  } catch (error) {
    throw new Error(`${commands.map(command => command.join(' ')).join('; ')}: ${(error as Error).message}`)
  } finally {
    connection.destroy()
  }
}

const encode = (command: readonly string[]) =>
  `*${command.length}\r\n${command.map(word => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

/** A reply of the protocol RESP2 and where it ends; `undefined` while it is not whole. */
const parse = (text: string, start: number): { reply: Reply; end: number } | undefined => {
  const lineEnd = text.indexOf('\r\n', start)
  if (lineEnd < 0) return undefined
  const line = text.slice(start + 1, lineEnd)
  const end = lineEnd + 2
  switch (text[start]) {
    case '+':
      return { reply: line, end }
    case ':':
      return { reply: Number(line), end }
    case '-':
      throw new Error(line)
    case '$':
      return parseBulk(text, end, Number(line))
    case '*':
      return parseList(text, end, Number(line))
    default:
      throw new Error(`expected a reply of RESP2, found ${JSON.stringify(text.slice(start, start + 40))}`)
  }
}

const parseBulk = (text: string, start: number, length: number) => {
  if (length < 0) return { reply: null, end: start }
  const end = start + length + 2
  return text.length < end ? undefined : { reply: text.slice(start, end - 2), end }
}

const parseList = (text: string, start: number, length: number) => {
  const reply: Reply[] = []
  let end = start
  while (reply.length < length) {
    const item = parse(text, end)
    if (!item) return undefined
    reply.push(item.reply)
    end = item.end
  }
  return { reply, end }
}
