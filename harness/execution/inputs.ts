import { hash } from 'node:crypto'
import type { Described } from '../../checker/labels.ts'
import { saidBy } from '../../checker/likeness.ts'
import { aboutMessage } from './about-message.ts'
import type { Input } from './choices.ts'

/** All that a node was given so far. Plain data. */
export interface InputsMark {
  /** Of all but the latest. */
  readonly hash: string
  /** The latest, as text. */
  readonly latest: string
}

/** Characters after which what was given is hashed: were they more, each node would keep more of it; fewer, it took more time. */
const latestMax = 4096

/** What a node was given, in order. It is seldom asked for: a hash is made when it is, and when there is much. */
export class Inputs {
  #hash: string
  #latest: string

  constructor({ hash, latest }: InputsMark = { hash: '', latest: '' }) {
    this.#hash = hash
    this.#latest = latest
  }

  mark(): InputsMark {
    return { hash: this.#hash, latest: this.#latest }
  }

  /** One more step. */
  add(what: Described, inputs: readonly Input[]): void {
    const contents = inputs.map(input => ('deliver' in input ? aboutMessage(input.deliver).hash : ''))
    this.#latest += `${saidBy(what)} ${contents.join(' ')}\n`
    if (this.#latest.length <= latestMax) return
    this.#hash = this.hash()
    this.#latest = ''
  }

  /** Equal where the same was given in the same order. */
  hash(): string {
    return hash('sha1', `${this.#hash}\n${this.#latest}`)
  }
}
