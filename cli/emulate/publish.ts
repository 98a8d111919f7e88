import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { UsageError } from '../../checker/system/errors.ts'
import type { VisitorListener } from '../../harness/clients/visitors.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import type { Happening } from '../../harness/timed/timing.ts'

const loopback = '127.0.0.1'

/** A note for ports that the configuration publishes but this pace does not. */
export const unpublished = ({ publish }: Pick<ResolvedSystem, 'publish'>, pace: string): string[] =>
  publish.length === 0 ? [] : [`no port is published at the pace ${pace}, only at real`]

/** Ports on this machine's loopback that lead to ports of nodes. What real clients send becomes part of the run. */
export class PublishedPorts implements VisitorListener {
  readonly #servers: Server[] = []
  readonly #sockets = new Map<number, Socket>()
  #visitors = 0
  readonly #published: ResolvedSystem['publish']
  readonly #act: (action: Happening) => void

  private constructor(published: ResolvedSystem['publish'], act: (action: Happening) => void) {
    this.#published = published
    this.#act = act
  }

  /**
   * @param act applies an action to the run
   *
   * @throws UsageError if a port is taken or not allowed for this user
   */
  static async open(
    published: ResolvedSystem['publish'],
    act: (action: Happening) => Promise<void>,
  ): Promise<PublishedPorts> {
    // A visitor learns of an error through its own connection.
    const ports = new PublishedPorts(published, action => void act(action).catch(() => undefined))
    try {
      for (const each of published) await ports.#listen(each)
      return ports
    } catch (error) {
      ports.close()
      throw error
    }
  }

  onData(visitor: number, bytes: Buffer): void {
    this.#sockets.get(visitor)?.write(bytes)
  }

  onEnd(visitor: number, how: 'end' | 'lost'): void {
    const socket = this.#sockets.get(visitor)
    if (how === 'end') socket?.end()
    else socket?.resetAndDestroy()
  }

  /** Says where they are, one line each. */
  say(): void {
    for (const { port, node, nodePort } of this.#published)
      process.stderr.write(`lastnail: 127.0.0.1:${port} is ${node}:${nodePort}\n`)
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
    for (const server of this.#servers) server.close()
  }

  async #listen({ port, node, nodePort }: ResolvedSystem['publish'][number]): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, socket => this.#welcome(socket, node, nodePort))
    this.#servers.push(server)
    server.listen(port, loopback)
    try {
      await once(server, 'listening')
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException
      const why = code === 'EADDRINUSE' ? 'it is taken' : message
      throw new UsageError(`publish.${port}: cannot listen on ${loopback}:${port}: ${why}`, { cause })
    }
  }

  #welcome(socket: Socket, node: string, port: number): void {
    const visitor = ++this.#visitors
    this.#sockets.set(visitor, socket)
    let hasEnded = false
    this.#act({ does: 'connect', visitor, node, port })
    socket
      .on('data', bytes => this.#act({ does: 'send', visitor, node, data: bytes.toString('base64') }))
      .on('end', () => {
        hasEnded = true
        this.#act({ does: 'end', visitor, node, how: 'end' })
      })
      .on('error', () => undefined)
      .on('close', () => {
        this.#sockets.delete(visitor)
        if (!hasEnded) this.#act({ does: 'end', visitor, node, how: 'reset' })
      })
  }
}
