import { type Cipher, createCipheriv, createHash } from 'node:crypto'

/** Which stream, and how far it has gone. */
export interface RandomnessMark {
  readonly name: string
  readonly drawn: number
  readonly forks: number
}

/** A stream of random bytes: the same for the same name, and different from all others. */
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

  /** Another that goes on as the one that was marked did. */
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

  /** It goes on as it did from the mark, which is its own. */
  rewind({ drawn, forks }: RandomnessMark): void {
    this.#forks = forks
    if (drawn === this.#drawn) return
    this.#cipher = cipherOf(this.#name)
    this.#drawn = drawn
    this.#cipher.update(Buffer.alloc(drawn))
  }

  /** A stream of its own for a thread, independent of what others draw. */
  fork(): Randomness {
    return new Randomness(`${++this.#forks} ${this.#name}`)
  }
}

const cipherOf = (name: string): Cipher => {
  const key = createHash('sha256').update(name).digest()
  return createCipheriv('aes-128-ctr', key.subarray(0, 16), key.subarray(16))
}
