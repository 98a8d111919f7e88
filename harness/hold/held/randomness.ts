import { type Cipher, createCipheriv, createHash } from 'node:crypto'

/** Name and position of a stream. */
export interface RandomnessMark {
  readonly name: string
  readonly drawn: number
  readonly forks: number
}

/** A stream of random bytes: equal for equal names, and different from all others. */
export class Randomness {
  readonly #name: string
  #cipher: Cipher | undefined
  #drawn = 0
  #forks = 0

  constructor(name: string) {
    this.#name = name
  }

  bytes(length: number): Buffer {
    this.#cipher ??= cipherOf(this.#name)
    this.#drawn += length
    return this.#cipher.update(Buffer.alloc(length))
  }

  /** A new stream that continues from the mark of another. */
  static from(mark: RandomnessMark): Randomness {
    const randomness = new Randomness(mark.name)
    randomness.rewind(mark)
    return randomness
  }

  copy(): Randomness {
    return Randomness.from(this.mark())
  }

  mark(): RandomnessMark {
    return { name: this.#name, drawn: this.#drawn, forks: this.#forks }
  }

  /** Continues from its own mark. */
  rewind({ drawn, forks }: RandomnessMark): void {
    this.#forks = forks
    if (drawn === this.#drawn) return
    this.#cipher = cipherOf(this.#name)
    this.#drawn = drawn
    this.#cipher.update(Buffer.alloc(drawn))
  }

  /** A separate stream for a thread, independent of how much others draw. */
  fork(): Randomness {
    return new Randomness(`${++this.#forks} ${this.#name}`)
  }
}

const cipherOf = (name: string): Cipher => {
  const key = createHash('sha256').update(name).digest()
  return createCipheriv('aes-128-ctr', key.subarray(0, 16), key.subarray(16))
}
