import type { Frame, StreamReader } from '../dissector.ts'
import { lengthLabel } from '../short-label.ts'

/** What the held bytes begin with. */
export type Cut =
  /** a whole frame; after the `last` one the stream is no longer of this protocol */
  | { readonly length: number; readonly label: string; readonly last?: boolean }
  /** the beginning of a frame with at least this many bytes, which is more than there are */
  | { readonly atLeast: number }
  /** neither of these */
  | 'malformed'

/**
 * Cuts a stream into the frames of a protocol. A malformed stream is not an error, since the service must get it all
 * the same: from there on, bytes are passed on as they come and labelled by their length.
 */
export abstract class FrameReader implements StreamReader {
  #chunks: Buffer[] = []
  #held = 0
  #wanted = 1
  #raw = false

  /** Called with at least one byte. Its result for the beginning of a frame must not change when more bytes follow. */
  protected abstract cut(held: Buffer): Cut

  /**
   * Another reader that knows as much of the frames before, and holds no bytes.
   *
   * @param other as for `copy`
   */
  protected abstract alike(other: StreamReader | undefined): FrameReader

  copy(other?: StreamReader): FrameReader {
    const copy = this.alike(other)
    copy.#chunks = [...this.#chunks]
    copy.#held = this.#held
    copy.#wanted = this.#wanted
    copy.#raw = this.#raw
    return copy
  }

  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk)
    this.#held += chunk.length
    // Chunks are joined only when a frame may be complete, so that a large frame is not copied for each chunk.
    if (this.#held < this.#wanted) return []
    this.#wanted = 1
    const frames: Frame[] = []
    let held = this.rest()
    while (held.length > 0) {
      const cut = this.#raw ? 'malformed' : this.cut(held)
      if (cut !== 'malformed' && 'atLeast' in cut) {
        this.#wanted = cut.atLeast
        break
      }
      const { length, label, last } = cut === 'malformed' ? asItComes(held) : cut
      frames.push({ bytes: held.subarray(0, length), label })
      held = held.subarray(length)
      this.#raw ||= last === true
    }
    this.#chunks = [held]
    this.#held = held.length
    return frames
  }

  rest(): Buffer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0]!
  }
}

const asItComes = (bytes: Buffer) => ({ length: bytes.length, label: lengthLabel(bytes), last: true })

/** The label of a datagram that consists of whole frames. */
export const datagramLabel = (reader: StreamReader, payload: Buffer): string => {
  const labels = reader.push(payload).map(frame => frame.label)
  return labels.length > 0 && reader.rest().length === 0 ? labels.join(', ') : lengthLabel(payload)
}
