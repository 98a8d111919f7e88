import { hash } from 'node:crypto'
import type { Described } from '../../../checker/system/labels.ts'
import { saidBy } from '../../../checker/system/likeness.ts'
import { aboutMessage } from './about-message.ts'
import type { Input } from './action.ts'

/** Everything that a node was given so far. Plain data. */
export interface InputsMark {
  /** Hash of all inputs but the latest. */
  readonly hash: string
  /** The latest inputs, as text. */
  readonly latest: string
}

/** Characters after which the text is hashed. A larger limit costs memory in each node, a smaller one CPU time. */
const latestMax = 4096

/** The inputs of a node, in order. Their hash is seldom needed, so it is computed on demand, and when they are many. */
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

  /** Adds one step. */
  add(what: Described, inputs: readonly Input[]): void {
    const contents = inputs.map(input => ('deliver' in input ? aboutMessage(input.deliver).hash : ''))
    this.#latest += `${saidBy(what)} ${contents.join(' ')}\n`
    if (this.#latest.length <= latestMax) return
    this.#hash = this.hash()
    this.#latest = ''
  }

  /** Equal if the same inputs were given in the same order. */
  hash(): string {
    return hash('sha1', `${this.#hash}\n${this.#latest}`)
  }
}
