import { numbers, withoutNumbers } from '../../checker/labels.ts'

/** What a label says, as far as another version of the service may say it in other words. */
interface Shape {
  /** What happens, and where: the same of two labels that may stand for one step. */
  readonly frame: string
  /** Words of the message, in their order. */
  readonly words: readonly string[]
}

const message = /^((?:[a-z]+ )?\S+→\S+)(?: #\d+)?(.*)$/s
const isLength = (word: string) => word === 'byte' || word === 'bytes'

export const shapeOf = (label: string): Shape => {
  if (label.startsWith('overlap ')) {
    const both = label.slice('overlap '.length).split(' & ').map(shapeOf)
    return { frame: `overlap ${both.map(({ frame }) => frame).join(' & ')}`, words: both.flatMap(({ words }) => words) }
  }
  const [, frame, said] = message.exec(label) ?? []
  if (frame === undefined) return { frame: withoutNumbers(label), words: [] }
  const words = (said!.toLowerCase().match(/\p{L}+/gu) ?? []).filter(word => !isLength(word))
  return { frame, words }
}

/** Words that tell what kind of message it is: later ones are what it carries. */
const kindWords = 2

/** What happens, where, and the kind of the message. */
export const kindOf = (label: string): string => {
  const { frame, words } = shapeOf(label)
  return [frame, ...words.slice(0, kindWords)].join(' ')
}

/**
 * How well a step that is on offer can stand for one that is not: from 0, for another kind of step or other nodes, to 1.
 * A step that differs in numbers alone is above all others.
 */
export const likeness = (offered: string, wanted: string): number => {
  const [one, other] = [shapeOf(offered), shapeOf(wanted)]
  if (one.frame !== other.frame) return 0
  if (withoutNumbers(offered) === withoutNumbers(wanted)) return 0.75 + 0.25 / (1 + distance(offered, wanted))
  return 0.01 + 0.7 * shared(one.words, other.words)
}

const distance = (one: string, other: string): number => {
  const others = numbers(other)
  return numbers(one).reduce((sum, number, index) => sum + Math.abs(number - (others[index] ?? number)), 0)
}

/** Dice's coefficient: the share of words that both have. */
const shared = (some: readonly string[], others: readonly string[]): number => {
  const left = [...others]
  const both = some.filter(word => {
    const at = left.indexOf(word)
    if (at !== -1) left.splice(at, 1)
    return at !== -1
  })
  return some.length + others.length === 0 ? 1 : (2 * both.length) / (some.length + others.length)
}
