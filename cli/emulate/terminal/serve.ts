import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { z } from 'zod'
import type { Run } from '../../../harness/emulation/run.ts'

const size = { columns: z.int().min(1).max(0xffff), rows: z.int().min(1).max(0xffff) }

/** A program to run in a node with a terminal of this kind and size. */
export const terminalSchema = z.strictObject({
  node: z.string().min(1),
  command: z.array(z.string()).min(1),
  kind: z.string().min(1),
  ...size,
})

/** What somebody at a terminal does, a line of JSON each: types bytes in base64, or gives its window another size. */
const done = z.union([z.strictObject({ typed: z.base64() }), z.strictObject(size)])

export type TerminalAsked = z.infer<typeof terminalSchema>
export type DoneAtTerminal = z.infer<typeof done>

/** What is seen there, a line of JSON each: bytes in base64, and at last the program's exit code. */
export type SeenAtTerminal = { readonly shown: string } | { readonly exitCode: number }

/**
 * Lets whoever has the connection use a program in a node.
 *
 * @throws UsageError if it cannot run there
 */
export const serveTerminal = (run: Run, { node, command, ...asked }: TerminalAsked, connection: Duplex): void => {
  const terminal = run.terminal(node, command, asked)
  const { screen } = terminal
  const say = (seen: SeenAtTerminal) => connection.write(`${JSON.stringify(seen)}\n`)
  screen.on('data', (bytes: Buffer) => {
    if (say({ shown: bytes.toString('base64') })) return
    screen.pause()
    connection.once('drain', () => screen.resume())
  })
  // A server's connection stays open when the other end has gone.
  connection.once('end', () => connection.destroy()).once('close', () => screen.destroy())
  createInterface({ input: connection }).on('line', line => {
    const did = doneIn(line)
    if (did === undefined) connection.destroy()
    else if ('typed' in did) screen.write(Buffer.from(did.typed, 'base64'))
    else terminal.resize(did)
  })
  void terminal.ended.then(exitCode => {
    say({ exitCode })
    connection.end()
  })
}

/** Undefined if it is something else. */
const doneIn = (line: string): DoneAtTerminal | undefined => {
  try {
    return done.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
