import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'

/** What a program that uses TLS logs of one session: https://www.rfc-editor.org/rfc/rfc9850 */
export type KeyLabel = 'CLIENT_RANDOM' | 'CLIENT_TRAFFIC_SECRET_0' | 'SERVER_TRAFFIC_SECRET_0'

/** The file to which programs log the secrets of their TLS sessions, as `SSLKEYLOGFILE` names it. It grows while they run. */
export class KeyLog {
  readonly #path: string
  readonly #secrets = new Map<string, Buffer>()
  #read = 0
  /** A line that is not whole yet. */
  #begun = ''

  constructor(path: string) {
    this.#path = resolve(path)
  }

  /** A secret of the session whose client drew this random number; undefined if nobody has logged it. */
  secret(label: KeyLabel, clientRandom: Buffer): Buffer | undefined {
    const name = `${label} ${clientRandom.toString('hex')}`
    if (!this.#secrets.has(name)) this.#readOn()
    return this.#secrets.get(name)
  }

  #readOn(): void {
    let file: number
    try {
      file = openSync(this.#path, 'r')
    } catch {
      // No program has logged anything yet.
      return
    }
    try {
      const chunk = Buffer.alloc(chunkBytes)
      for (;;) {
        const bytes = readSync(file, chunk, 0, chunk.length, this.#read)
        if (bytes === 0) return
        this.#read += bytes
        this.#take(chunk.toString('latin1', 0, bytes))
      }
    } finally {
      closeSync(file)
    }
  }

  #take(text: string): void {
    const lines = (this.#begun + text).split('\n')
    this.#begun = lines.pop()!
    for (const line of lines) {
      const [label, random, secret] = line.trim().split(' ')
      if (secret !== undefined) this.#secrets.set(`${label} ${random!.toLowerCase()}`, Buffer.from(secret, 'hex'))
    }
  }
}

const chunkBytes = 1 << 16
