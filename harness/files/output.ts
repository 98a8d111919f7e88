import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

const nothing = Buffer.alloc(0)

/** Bytes of a character of UTF-8. */
const characterLengthMax = 4

/**
 * Bytes of a stream that are kept. A program that prints in an endless loop writes more than that in one step; a string of
 * JavaScript has at most eight times as many.
 */
const keptMax = 64 << 20

/** Editions are numbered over all streams. */
let editions = 0

/** One stream of a node's output: a file to which its processes append, read as it grows. */
export class Output {
  readonly path: string
  readonly descriptor: number
  #decoder = new StringDecoder()
  readonly #buffer = Buffer.alloc(65_536)
  #offset = 0
  readonly #lengthMax: number
  /** Everything that was read since the node's last start, or its end. */
  text = ''
  /**
   * Equal only if the text is equal; 0 for the empty text. To compare long texts instead, V8 would flatten each of
   * them, which takes their length in memory for each remembered state.
   */
  edition = 0
  /** What the last reading added to it, with the beginning of its first line. */
  latest = ''

  /** @param lengthMax at least this much of the end of the text is kept, and at most twice as much */
  constructor(path: string, lengthMax = keptMax) {
    this.path = path
    this.#lengthMax = lengthMax
    this.descriptor = openSync(path, 'a+', 0o600)
  }

  /** What was added since the last reading; of very much, only the end. */
  read(): Buffer {
    let chunks: Buffer[] = []
    for (;;) {
      const length = readSync(this.descriptor, this.#buffer, 0, this.#buffer.length, this.#offset)
      if (length > 0) chunks.push(Buffer.from(this.#buffer.subarray(0, length)))
      this.#offset += length
      if (length < this.#buffer.length) break
      const start = fstatSync(this.descriptor).size - keptMax
      if (start <= this.#offset) continue
      chunks = []
      this.#offset = start
    }
    const bytes = chunks.length === 0 ? nothing : Buffer.concat(chunks)
    if (bytes.length > 0) this.#add(this.#decoder.write(bytes))
    return bytes
  }

  #add(text: string): void {
    editions += 1
    this.edition = editions
    this.text = this.#limit(this.text + text)
    this.latest = this.#limit(this.latest.slice(this.latest.lastIndexOf('\n') + 1) + text)
  }

  #limit(text: string): string {
    return text.length > 2 * this.#lengthMax ? text.slice(-this.#lengthMax) : text
  }

  /** Returns a function that restores the present state, as if nothing had been written since. */
  mark(): () => void {
    const { size } = fstatSync(this.descriptor)
    const { text, edition, latest } = this
    const offset = this.#offset
    // An earlier mark may be gone back to in between, and what was written since is no longer in the file then.
    const unread = Buffer.alloc(Math.max(0, size - offset))
    readSync(this.descriptor, unread, 0, unread.length, offset)
    const last = Buffer.alloc(Math.min(offset, characterLengthMax - 1))
    readSync(this.descriptor, last, 0, last.length, offset - last.length)
    return () => {
      ftruncateSync(this.descriptor, size - unread.length)
      writeSync(this.descriptor, unread)
      this.#offset = offset
      this.text = text
      this.edition = edition
      this.latest = latest
      this.#decoder = new StringDecoder()
      // With the beginning of the last character, if that is incomplete.
      this.#decoder.write(last)
    }
  }

  /** The last lines, for a finding. */
  tail(lines = 5): string {
    return this.text.trimEnd().split('\n').slice(-lines).join('\n')
  }

  close(): void {
    closeSync(this.descriptor)
  }
}

/** What a node wrote to one of its streams. */
export interface NodeOutputs {
  readonly node: string
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Buffer
}

/** What a node wrote since this was last asked, by stream. */
export const outputsOf = (node: {
  readonly name: string
  readOutput(): { stdout: Buffer; stderr: Buffer }
}): NodeOutputs[] => {
  const { stdout, stderr } = node.readOutput()
  return [
    { node: node.name, stream: 'stdout' as const, bytes: stdout },
    { node: node.name, stream: 'stderr' as const, bytes: stderr },
  ].filter(({ bytes }) => bytes.length > 0)
}
