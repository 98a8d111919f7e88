import type { Flying, LocalState } from '../local/table.ts'

/** A step of the whole system: its label, or the message that it delivers, or both of two inputs at once; and what the node sent. */
export interface JointStep {
  readonly does: string | Flying | readonly [string | Flying, string | Flying]
  /** `drop ` or `duplicate `, before the label of the message. */
  readonly prefix?: string
  readonly sent: readonly Flying[]
}

/** A state of the whole system that is put together of states of single nodes, and messages in flight. */
export interface Point {
  /** In the order of the nodes. */
  readonly locals: readonly LocalState[]
  /** In the order in which they were sent. */
  readonly inFlight: readonly Flying[]
  /** Ways of messages that are held back, in order: what comes by others passes, and timers fire. */
  readonly held: readonly string[]
  /** How many faults of each kind have happened, and how often two inputs entered a node at once, as digits. */
  readonly spent: number
  /** By how many deviations from what a prompt network does next it is reached. */
  readonly cost: number
  readonly depth: number
  readonly before: Point | undefined
  /** The steps that led here from `before`. */
  readonly steps: readonly JointStep[]
}

/** A message may only be delivered if it is the first in flight of its stream. */
export const isFirst = ({ sent: { stream } }: Flying, place: number, inFlight: readonly Flying[]): boolean => {
  if (stream === undefined) return true
  for (let at = 0; at < place; at++) if (inFlight[at]!.sent.stream?.name === stream.name) return false
  return true
}

/** What a message keeps its order with: its stream, or the other datagrams to the same node. */
export const orderingOf = ({ sent: { stream, from, to } }: Flying): string => stream?.name ?? `${from}→${to}`

export const isMessageHeld = ({ held }: Pick<Point, 'held'>, message: Flying): boolean =>
  held.length > 0 && held.includes(orderingOf(message))

/** Equal for equal states: the nodes, the messages (ordered within their streams only), the spent faults. */
export const keyOfPoint = (point: Pick<Point, 'locals' | 'inFlight' | 'held' | 'spent'>): number => {
  const { locals, inFlight, spent } = point
  let [high, low] = [spent, spent]
  for (const { index } of locals) {
    high = mix(high, index)
    low = mix(low ^ 0x5bd1e995, index)
  }
  let [sumHigh, sumLow] = [0, 0]
  for (const [place, { id, sent }] of inFlight.entries()) {
    const ahead = sent.stream ? aheadOf(sent.stream.name, place, inFlight) : 0
    const one = mix(mix(isMessageHeld(point, inFlight[place]!) ? 0x85ebca77 : 0x9747b28c, id), ahead)
    sumHigh = (sumHigh + one) | 0
    sumLow = (sumLow + mix(one, 0x27d4eb2f)) | 0
  }
  return joined(mix(high, sumHigh), mix(low, sumLow))
}

/** A key of the states of all nodes: equal states have equal keys. */
export const keyOfLocals = (locals: readonly LocalState[]): number => {
  let [high, low] = [1, 2]
  for (const { index } of locals) {
    high = mix(high, index)
    low = mix(low ^ 0x5bd1e995, index)
  }
  return joined(high, low)
}

const aheadOf = (stream: string, place: number, inFlight: readonly Flying[]): number => {
  let ahead = 0
  for (let at = 0; at < place; at++) if (inFlight[at]!.sent.stream?.name === stream) ahead += 1
  return ahead
}

/** One step of MurmurHash3 (Austin Appleby, public domain), with its last steps. */
const mix = (hash: number, value: number): number => {
  let k = Math.imul(value, 0xcc9e2d51)
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
  let h = hash ^ k
  h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** 53 bits of two hashes. Among a million states, two have the same with a probability of one to ten thousand. */
const joined = (high: number, low: number): number => (high >>> 0) * 0x20_0000 + (low >>> 11)
