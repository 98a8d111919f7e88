import { StringDecoder } from 'node:string_decoder'
import type { RecordedStep } from '../../checker/trace/trace.ts'

/** A line that a node printed, and when its end was seen, in milliseconds of the run. */
export interface PrintedLine {
  readonly atMs: number
  readonly node: string
  readonly stream: 'stdout' | 'stderr'
  readonly line: string
}

/** Output of nodes, as lines. */
export class PrintedLines {
  readonly #rests = new Map<string, { readonly decoder: StringDecoder; text: string }>()

  /** The lines that end in what was printed. */
  take(outputs: Pick<RecordedStep, 'outputs'>['outputs'], atMs: number): PrintedLine[] {
    return outputs.flatMap(({ node, stream, bytes }) => {
      const key = `${stream} ${node}`
      const rest = this.#rests.get(key) ?? { decoder: new StringDecoder('utf8'), text: '' }
      this.#rests.set(key, rest)
      const lines = (rest.text + rest.decoder.write(Buffer.from(bytes))).split('\n')
      rest.text = lines.pop()!
      return lines.map(line => ({ atMs, node, stream, line }))
    })
  }
}
