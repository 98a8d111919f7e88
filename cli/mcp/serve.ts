import { once } from 'node:events'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import PQueue from 'p-queue'
import { explainError } from '../command/exit-code.ts'
import { version } from '../command/package.ts'
import { boundedText } from './bounded.ts'
import { type Tool, tools } from './tools.ts'

/** Serves the Model Context Protocol on stdin and stdout until stdin ends. */
export const serveMcp = async (): Promise<void> => {
  const isOver = once(process.stdin, 'close')
  const handle = serveStdio(makeServer)
  await isOver
  await handle.close()
}

const makeServer = (): McpServer => {
  const server = new McpServer({ name: 'lastnail', version })
  // One call at a time: each may hold the processes of a system, and CPUs are few.
  const queue = new PQueue({ concurrency: 1 })
  for (const [name, { description, input, answer }] of Object.entries(tools as Readonly<Record<string, Tool>>))
    server.registerTool(name, { description, inputSchema: input }, (asked, { mcpReq }) =>
      queue.add(async () => {
        try {
          return said(await answer(asked, mcpReq.signal))
        } catch (error) {
          return { ...said(explainError(error).lines.join('\n')), isError: true }
        }
      }),
    )
  return server
}

const said = (text: string) => ({ content: [{ type: 'text' as const, text: boundedText(text) }] })
