import { type Cipher, createCipheriv, createHash } from 'node:crypto'

/** A node's stream of random bytes: the same for the same seed and name, unlike any other's. */
export class Randomness {
  readonly #cipher: Cipher

  constructor(seed: number, name: string) {
    const key = createHash('sha256').update(`${seed} ${name}`).digest()
    this.#cipher = createCipheriv('aes-128-ctr', key.subarray(0, 16), key.subarray(16))
  }

  bytes(length: number): Buffer {
    return this.#cipher.update(Buffer.alloc(length))
  }
}
