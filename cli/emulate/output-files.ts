import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { NotWritten } from '../../checker/system/written.ts'

/** What a node printed to one of its streams. */
interface Written {
  readonly node: string
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

/** Path of a node's output file in a run directory. */
export const outputFile = (directory: string, node: string, stream: Written['stream']): string =>
  join(directory, 'output', `${node}.${stream}`)

/** The nodes' output, as files that grow while the system runs. */
export class OutputFiles {
  readonly #directory: string

  /**
   * @param directory of the run
   *
   * @throws NotWritten
   */
  constructor(directory: string, nodes: readonly string[]) {
    this.#directory = directory
    this.#orFail(() => mkdirSync(join(directory, 'output'), { mode: 0o700 }))
    for (const node of nodes)
      for (const stream of ['stdout', 'stderr'] as const) this.append([{ node, stream, bytes: Buffer.alloc(0) }])
  }

  append(outputs: readonly Written[]): void {
    for (const { node, stream, bytes } of outputs)
      this.#orFail(() => appendFileSync(outputFile(this.#directory, node, stream), bytes, { mode: 0o600 }))
  }

  #orFail(write: () => void): void {
    try {
      write()
    } catch (cause) {
      throw new NotWritten('what nodes print to', this.#directory, cause)
    }
  }
}
