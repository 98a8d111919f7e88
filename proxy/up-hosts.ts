import { Readable } from '../linux/readable.ts'
import type { Host } from './hosts.ts'

/** The hosts of a network that are up. Make a new one when a host goes up or down. */
export class UpHosts {
  readonly #hosts: readonly Host[]
  readonly #readable: Readable

  constructor(hosts: Iterable<Host>) {
    this.#hosts = [...hosts].filter(({ link }) => link !== undefined)
    this.#readable = new Readable(this.#hosts.map(({ link }) => link!.descriptor))
  }

  /**
   * Those that may have sent something, in the order in which they were added. The kernel is asked once for all, in
   * place of a read from each: most have sent nothing.
   */
  talking(): readonly Host[] {
    this.#readable.count()
    return this.#hosts.filter(({ link }, index) => link!.descriptor === undefined || this.#readable.was(index))
  }
}
