import type { ResolvedNode } from '../config/config.ts'
import type { Life } from './life.ts'
import { listeningPorts } from './ports.ts'

/** When the start of a node is over. */
export class Readiness {
  readonly #definition: ResolvedNode
  readonly #life: () => Life | undefined

  constructor(definition: ResolvedNode, life: () => Life | undefined) {
    this.#definition = definition
    this.#life = life
  }

  /** Whether its start is over only when ports are open, a health check passes, or it has ended. */
  get isSaid(): boolean {
    const { listens, healthy, exits } = this.#definition
    return listens.length > 0 || healthy !== undefined || exits === 'completes'
  }

  /** Whether its start cannot be over, whatever its health check says. */
  get isAwaited(): boolean {
    if (this.#life()?.isAlive !== true) return false
    return this.#definition.exits === 'completes' || this.closedPorts().length > 0
  }

  /** The program that tells whether it is healthy. */
  get healthCheck(): readonly string[] | undefined {
    return this.#definition.healthy
  }

  /** TCP ports that must be open at the end of its start but are not. */
  closedPorts(): number[] {
    const open = this.openPorts()
    return this.#definition.listens.filter(port => !open.includes(port))
  }

  /** TCP ports on which it listens, in ascending order. */
  openPorts(): number[] {
    const pid = this.#life()?.held.pid
    return pid ? listeningPorts(pid) : []
  }
}
