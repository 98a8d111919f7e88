import { createDecipheriv, createHmac } from 'node:crypto'

/** A cipher suite with authenticated encryption: https://www.rfc-editor.org/rfc/rfc8446#appendix-B.4 and, of TLS 1.2, rfc5288, rfc5289, rfc7905 */
export interface Suite {
  readonly cipher: 'aes-128-gcm' | 'aes-256-gcm' | 'chacha20-poly1305'
  readonly hash: 'sha256' | 'sha384'
  readonly keyBytes: number
}

const aes128: Suite = { cipher: 'aes-128-gcm', hash: 'sha256', keyBytes: 16 }
const aes256: Suite = { cipher: 'aes-256-gcm', hash: 'sha384', keyBytes: 32 }
const chacha: Suite = { cipher: 'chacha20-poly1305', hash: 'sha256', keyBytes: 32 }

/** By their numbers. Suites with other ciphers are not read. */
export const suites: Readonly<Record<number, Suite>> = {
  ...{ 4865: aes128, 4866: aes256, 4867: chacha },
  ...{ 156: aes128, 157: aes256, 49195: aes128, 49196: aes256, 49199: aes128, 49200: aes256 },
  ...{ 158: aes128, 159: aes256, 52392: chacha, 52393: chacha, 52394: chacha },
}

export interface Opened {
  readonly type: number
  readonly content: Buffer
}

/** Opens the records of one direction of a session, one after another. */
export interface Opener {
  /** The content of the next record, with its head; undefined if these are not its keys. Then nothing has changed. */
  open(record: Buffer): Opened | undefined
}

const [headBytes, tagBytes, ivBytes] = [5, 16, 12]

/** Records of TLS 1.3, of the traffic secret of a direction: https://www.rfc-editor.org/rfc/rfc8446#section-5.2 */
export class Opener13 implements Opener {
  readonly #suite: Suite
  readonly #key: Buffer
  readonly #iv: Buffer
  #sequence: bigint

  /** @param sequence how many records of these keys came before the first that is opened */
  constructor(suite: Suite, secret: Buffer, sequence: number) {
    this.#suite = suite
    this.#key = expandedLabel(suite, secret, 'key', suite.keyBytes)
    this.#iv = expandedLabel(suite, secret, 'iv', ivBytes)
    this.#sequence = BigInt(sequence)
  }

  open(record: Buffer): Opened | undefined {
    const sealing = { key: this.#key, nonce: mixed(this.#iv, this.#sequence), aad: record.subarray(0, headBytes) }
    const padded = decrypted(this.#suite, sealing, record.subarray(headBytes))
    if (padded === undefined) return undefined
    this.#sequence += 1n
    let end = padded.length
    while (end > 0 && padded[end - 1] === 0) end -= 1
    return end === 0 ? undefined : { type: padded[end - 1]!, content: padded.subarray(0, end - 1) }
  }
}

/** HKDF-Expand-Label. One block is as long as a hash, and nothing longer is asked for. */
const expandedLabel = ({ hash }: Suite, secret: Buffer, label: string, length: number): Buffer => {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([length >> 8, length & 0xff, name.length]), name, Buffer.from([0, 1])])
  return createHmac(hash, secret).update(info).digest().subarray(0, length)
}

/** Records of TLS 1.2 after the first sealed one, `Finished`, of the master secret of a session: https://www.rfc-editor.org/rfc/rfc5246#section-6.3 */
export class Opener12 implements Opener {
  readonly #suite: Suite
  readonly #key: Buffer
  readonly #iv: Buffer
  #sequence = 1n

  constructor(suite: Suite, direction: 'forward' | 'backward', { master, clientRandom, serverRandom }: Secrets12) {
    this.#suite = suite
    const fixedBytes = suite === chacha ? ivBytes : saltBytes
    const { keyBytes } = suite
    const seed = Buffer.concat([Buffer.from('key expansion'), serverRandom, clientRandom])
    const block = expanded(suite.hash, master, seed, 2 * (keyBytes + fixedBytes))
    const index = direction === 'forward' ? 0 : 1
    this.#key = block.subarray(index * keyBytes, (index + 1) * keyBytes)
    this.#iv = block.subarray(2 * keyBytes + index * fixedBytes, 2 * keyBytes + (index + 1) * fixedBytes)
  }

  open(record: Buffer): Opened | undefined {
    const explicitBytes = this.#suite === chacha ? 0 : nonceBytes
    const length = record.length - headBytes - explicitBytes - tagBytes
    if (length < 0) return undefined
    const aad = Buffer.alloc(13)
    aad.writeBigUInt64BE(this.#sequence)
    record.copy(aad, 8, 0, 3)
    aad.writeUInt16BE(length, 11)
    const explicit = record.subarray(headBytes, headBytes + explicitBytes)
    const nonce = explicitBytes === 0 ? mixed(this.#iv, this.#sequence) : Buffer.concat([this.#iv, explicit])
    const content = decrypted(this.#suite, { key: this.#key, nonce, aad }, record.subarray(headBytes + explicitBytes))
    if (content === undefined) return undefined
    this.#sequence += 1n
    return { type: record[0]!, content }
  }
}

interface Secrets12 {
  readonly master: Buffer
  readonly clientRandom: Buffer
  readonly serverRandom: Buffer
}

/** Of the nonce of TLS 1.2 with AES: what the key block has of it, and what each record says. */
const [saltBytes, nonceBytes] = [4, 8]

/** P_hash of TLS 1.2: https://www.rfc-editor.org/rfc/rfc5246#section-5 */
const expanded = (hash: string, secret: Buffer, seed: Buffer, length: number): Buffer => {
  const hmac = (...parts: readonly Buffer[]) => {
    const made = createHmac(hash, secret)
    for (const part of parts) made.update(part)
    return made.digest()
  }
  const blocks: Buffer[] = []
  let a = hmac(seed)
  for (let bytes = 0; bytes < length; bytes += a.length) {
    blocks.push(hmac(a, seed))
    a = hmac(a)
  }
  return Buffer.concat(blocks).subarray(0, length)
}

/** The nonce of the record of this number. */
const mixed = (iv: Buffer, sequence: bigint): Buffer => {
  const nonce = Buffer.from(iv)
  nonce.writeBigUInt64BE(nonce.readBigUInt64BE(ivBytes - 8) ^ sequence, ivBytes - 8)
  return nonce
}

interface Sealed {
  readonly key: Buffer
  readonly nonce: Buffer
  readonly aad: Buffer
}

/** Undefined if it was not sealed so. */
const decrypted = ({ cipher }: Suite, { key, nonce, aad }: Sealed, sealed: Buffer): Buffer | undefined => {
  if (sealed.length < tagBytes) return undefined
  const end = sealed.length - tagBytes
  // Node.js declares the same methods for each of these ciphers.
  const decipher = createDecipheriv(cipher as 'aes-128-gcm', key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(aad)
  decipher.setAuthTag(sealed.subarray(end))
  const content = decipher.update(sealed.subarray(0, end))
  try {
    decipher.final()
    return content
  } catch {
    return undefined
  }
}
