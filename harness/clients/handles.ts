import { resolve } from 'node:path'
import { shortened } from '../../checker/system/brief.ts'
import { readInside } from '../../linux/inside.ts'
import type { VirtualSocket } from '../../proxy/virtual-host.ts'
import { ConfigError, type ExecResult, type NodeHandle, NoSuchNode, nearest } from '../config/config.ts'
import { withEnd } from '../config/printed.ts'
import type { Node } from '../node/node.ts'
import type { Begun } from './calls.ts'
import { asClientSocket } from './client-socket.ts'
import type { OutsideConnections } from './connections.ts'
import { namedAlone } from './named-alone.ts'
import type { Programs } from './programs.ts'

/**
 * A program that a client or observer runs is given up after this real time, in milliseconds. It is shorter than the
 * time an observer has, so that the message names the program and not its caller.
 */
export const execMsMax = 10_000

/** Characters of a path that a note shows. */
const pathShownMax = 60

type Answer = Begun['answer']

/** Node handles by name, as a client or observer gets them. */
export type NamedHandles = Readonly<Record<string, NodeHandle>>

/** The handles by which clients and observers reach nodes, and the mistakes they make with them. */
export class Handles {
  readonly #nodes: readonly Node[]
  readonly #connections: OutsideConnections
  readonly #programs: Programs
  /** By owner: `clients.put`, `state`. */
  readonly #known = new Map<string, NamedHandles>()
  /** The first mistake of a client or observer, such as using a node that does not exist. */
  #mistake: ConfigError | undefined

  constructor(nodes: readonly Node[], connections: OutsideConnections, programs: Programs) {
    this.#nodes = nodes
    this.#connections = connections
    this.#programs = programs
  }

  for(who: string): NamedHandles {
    const handles = this.#known.get(who) ?? this.of(who, () => {})
    this.#known.set(who, handles)
    return handles
  }

  /** Handles of their own, for one call. @param answer receives each HTTP response: in words if it is an error */
  of(who: string, answer: Answer): NamedHandles {
    const all = Object.fromEntries(this.#nodes.map(node => [node.name, this.#handleOf(node, who, answer)]))
    return namedAlone(all, name => this.note(new NoSuchNode(who, name, nearest(name, Object.keys(all)))))
  }

  /** Returns the first mistake: this one if there was none before. */
  note(mistake: ConfigError): ConfigError {
    this.#mistake ??= mistake
    return this.#mistake
  }

  /** @throws ConfigError if somebody made a mistake, even if its caller caught the error */
  requireNoMistake(): void {
    if (this.#mistake) throw this.#mistake
  }

  #handleOf(node: Node, who: string, answer: Answer): NodeHandle {
    const connect = (port: number) =>
      this.#guard(this.#connections.open(node, port), `${who}: its connection to ${node.name}:${port}`)
    return {
      name: node.name,
      address: node.address,
      http: async (port, path, init) => {
        const response = await this.#connections.request(node, port, path, init)
        const { statusCode: status } = response
        const asked = `${init?.method ?? 'GET'} ${shortened(path, pathShownMax)}`
        answer(status >= 400 ? `${asked} of ${node.name} answered ${status}` : undefined)
        return response
      },
      tcp: connect,
      socket: port => asClientSocket(connect(port), socket => socket.side.state === 'asking'),
      udp: (port, data) => this.#connections.ask(node, port, Buffer.from(data as Uint8Array)),
      exec: command => this.#exec(who, node, command),
      output: () => withEnd(node.output(), node.latestOutput()),
      file: async path => readInside(rootOf(node), resolve(node.workingDirectory, path)),
    }
  }

  /** Guards a stream that nobody listens to: its error would otherwise end this program. */
  #guard(socket: VirtualSocket, what: string): VirtualSocket {
    return socket.on('error', error => {
      if (socket.listenerCount('error') > 1) return
      this.note(new ConfigError([`${what} failed, and had no listener for 'error': ${error.message}`]))
    })
  }

  async #exec(who: string, node: Node, command: readonly string[]): Promise<ExecResult> {
    const result = await this.#programs.run(node, command, execMsMax)
    if (result) return result
    const program = command.join(' ')
    throw this.note(
      new ConfigError([
        `${who}: expected "${program}" to end in ${node.name}, found it running after ${execMsMax / 1000} s: no step is executed meanwhile`,
      ]),
    )
  }
}

const rootOf = ({ name, held }: Node): number => {
  if (held?.root !== undefined) return held.root
  throw Object.assign(new Error(`${name} is down`), { code: 'ENOENT' })
}
