import { portOf, udpEntries } from '../../linux/tcp-table.ts'
import { isEphemeral } from '../../proxy/label.ts'
import type { Node } from '../node/node.ts'

/** Ports that a node's kernel draws have numbers as names, in the order of drawing, from here on. */
const firstName = 49_152

/** The ports that a node's kernel drew at random, and how others call them: by the same number in all executions. */
export class DrawnPorts {
  /** By name. */
  readonly #drawn: Map<number, number>

  constructor(drawn: Iterable<readonly [name: number, port: number]> = []) {
    this.#drawn = new Map(drawn)
  }

  /** Of a node that others know already: its present ports have their own numbers as names. */
  static of({ held }: Pick<Node, 'held'>): DrawnPorts {
    const ports = held?.pid ? udpEntries(held.pid).map(({ local }) => portOf(local)) : []
    return new DrawnPorts(ports.filter(isEphemeral).map(port => [port, port]))
  }

  copy(): DrawnPorts {
    return new DrawnPorts(this.#drawn)
  }

  /** The port with this name; undefined if none has it. */
  at(name: number): number | undefined {
    return this.#drawn.get(name)
  }

  /** The name of a port. One that was not drawn is its own name. */
  nameOf(port: number): number {
    if (!isEphemeral(port)) return port
    for (const [name, drawn] of this.#drawn) if (drawn === port) return name
    let name = firstName
    while (this.#drawn.has(name)) name += 1
    this.#drawn.set(name, port)
    return name
  }
}
