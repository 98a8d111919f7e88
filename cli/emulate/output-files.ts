import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { NotWritten } from '../../checker/system/written.ts'
import { type PrintedLine, PrintedLines } from './printed-lines.ts'

/** Output of a node on one of its streams. */
interface Written {
  readonly node: string
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

/** Path of a node's output file in a run directory. */
export const outputFile = (directory: string, node: string, stream: Written['stream']): string =>
  join(directory, 'output', `${node}.${stream}`)

/** The nodes' output, as files that grow while the system runs; and its lines with their times, as JSON. */
export class OutputFiles {
  readonly #directory: string
  readonly #lines = new PrintedLines()

  /**
   * @param directory of the run
   *
   * @throws NotWritten
   */
  constructor(directory: string, nodes: readonly string[]) {
    this.#directory = directory
    this.#orFail(() => mkdirSync(join(directory, 'output'), { mode: 0o700 }))
    for (const node of nodes)
      for (const stream of ['stdout', 'stderr'] as const) this.append([{ node, stream, bytes: Buffer.alloc(0) }], 0)
  }

  /**
   * @param atMs when it was seen, in milliseconds of the run
   *
   * @returns the lines that end in it
   */
  append(outputs: readonly Written[], atMs: number): readonly PrintedLine[] {
    for (const { node, stream, bytes } of outputs) this.#write(outputFile(this.#directory, node, stream), bytes)
    const lines = this.#lines.take(outputs, atMs)
    for (const { node, stream, line } of lines)
      this.#write(
        join(this.#directory, 'output', `${node}.jsonl`),
        `${JSON.stringify({ s: atMs / 1000, stream, line })}\n`,
      )
    return lines
  }

  #write(file: string, content: string | Uint8Array): void {
    this.#orFail(() => appendFileSync(file, content, { mode: 0o600 }))
  }

  #orFail(write: () => void): void {
    try {
      write()
    } catch (cause) {
      throw new NotWritten('what nodes print to', this.#directory, cause)
    }
  }
}
