import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { UsageError } from '../../../checker/system/errors.ts'
import type { DoneAtTerminal, SeenAtTerminal, TerminalAsked } from './serve.ts'

/**
 * Runs a program in a node of a running system with the terminal of this process, until it ends.
 *
 * @returns its exit code
 *
 * @throws UsageError if this process has no terminal, or the system refuses
 */
export const useTerminal = async (
  { origin, token }: { readonly origin: string; readonly token: string },
  node: string,
  command: readonly string[],
): Promise<number> => {
  const { stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY)
    throw new UsageError('-t: expected a terminal, found an input or output that is none')
  const sizeNow = () => ({ columns: stdout.columns, rows: stdout.rows })
  const asked: TerminalAsked = { node, command: [...command], kind: process.env.TERM ?? 'xterm', ...sizeNow() }
  const connection = await connected(
    request(`${origin}/terminal?${new URLSearchParams({ asked: JSON.stringify(asked) })}`, {
      headers: { authorization: `Bearer ${token}`, connection: 'upgrade', upgrade: 'lastnail-terminal' },
    }).end(),
    origin,
  )
  const tell = (did: DoneAtTerminal) => void connection.write(`${JSON.stringify(did)}\n`)
  const type = (bytes: Buffer) => tell({ typed: bytes.toString('base64') })
  const resize = () => tell(sizeNow())
  stdin.setRawMode(true).on('data', type)
  stdout.on('resize', resize)
  try {
    return await shownUntilEnd(connection, bytes => void stdout.write(bytes))
  } finally {
    stdout.off('resize', resize)
    stdin.off('data', type).setRawMode(false).pause()
    connection.destroy()
  }
}

/** The connection once the system has agreed to speak by lines of JSON. */
const connected = async (asking: ClientRequest, origin: string): Promise<Socket> => {
  const agreed = new Promise<Socket>(resolve =>
    asking.once('upgrade', (_, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      resolve(socket as Socket)
    }),
  )
  const refused = once(asking, 'response').catch(cause => {
    throw new UsageError(`nothing answers at ${origin}: ${cause.message}`, { cause })
  })
  const answer = await Promise.race([agreed, refused])
  if (!Array.isArray(answer)) return answer
  throw new UsageError(JSON.parse(await text(answer[0] as IncomingMessage)).error)
}

const shownUntilEnd = async (connection: Socket, show: (bytes: Buffer) => void): Promise<number> => {
  connection.on('error', () => undefined)
  for await (const line of createInterface({ input: connection })) {
    const seen: SeenAtTerminal = JSON.parse(line)
    if ('exitCode' in seen) return seen.exitCode
    show(Buffer.from(seen.shown, 'base64'))
  }
  throw new UsageError('the run was over before the program was')
}
